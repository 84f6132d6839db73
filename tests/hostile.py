"""Texts that somebody else chose, and what no output of ours may do with them."""

import re

TEXTS = (
    *("a\n::error::x", "  ::error::x", "\t::warning::x", "::stop-commands::abc", "::add-matcher::m.json", ":::error::"),
    *(
        "::",
        "::error file=x::y",
        "x\r::error::y",
        "x\x0b::error::y",
        "x\x85::error::y",
        "x\u2028::error::y",
        "\n\n# x\n",
    ),
    *("\u3000::error::x", "\u200b::error::x", "##[error]x", "x ##[stop-commands]t", "##vso[task.setvariable]b", "##["),
    *("\x1b[2J\x1b]0;t\x07", "\u202edrow", "\udcff\udcfe", "@octocat", "x @jit y", "#45", "GH-45", "www.github.com"),
    *(
        "jax-ml/jax#45",
        "jax-ml@aa2f995b1d",
        "[a](javascript:x)",
        "<img src=x>",
        "| a | b |",
        "`code` ``x`",
        "**b** _i_",
    ),
    *(
        "# head",
        "- item",
        "> quote",
        "1. one",
        "=== ",
        "%0A::error::x",
        "a\\|b",
        "a\\",
        "&lt;b&gt; &#64;x",
        "[/b] :smile:",
    ),
)
_MARK = re.compile(r"##\w*\[")
_OWN = re.compile(r"::(?:error|warning|notice)(?: file=[^,]*,line=\d+,title=[^:]*)?::")


def faults(output: str, format: str = "text") -> list[str]:
    """Return the lines of an output that are not printable, or in which a workflow finds a command of somebody else."""
    return [line for line in output.split("\n") if not line.isprintable() or _commands(line, format)]


def _commands(line: str, format: str) -> bool:
    is_command = line.strip().startswith("::")
    is_own = format == "github" and _OWN.match(line) is not None
    return bool(_MARK.search(line)) or (is_command and not is_own)
