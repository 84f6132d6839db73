"""Foreign text on a terminal, in a log and in Markdown is text."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jax_stack_compat.base.files import dump_ascii
from jax_stack_compat.base.markdown import in_code, in_markdown, sentence
from jax_stack_compat.base.printable import encodable, inert, printable
from tests import hostile

ODD = st.text(alphabet=st.one_of(st.sampled_from("::##[]@`|\\<&*_~ \n#1w.-"), st.characters()))
REFERENCE = re.compile(r"@\w|#\d|GH-\d|://|www\.", re.IGNORECASE)


def rendered(markdown: str) -> tuple[str, str]:
    """Return the text and the code of one line of Markdown. It has no other markup, and no block of its own."""
    block, line, end = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(f"x\n\n{markdown}")[3:]
    assert ["paragraph_open", "inline", "paragraph_close"] == [block.type, line.type, end.type]
    told, within = {False: "", True: ""}, False
    for part in line.children or ():
        if part.type == "html_inline" and part.content in ("<code>", "</code>"):
            within = part.content == "<code>"
        else:
            assert part.type in ("text", "text_special", "code_inline"), part
            told[within or part.type == "code_inline"] += part.content
    return told[False], told[True]


@given(text=ODD)
@settings(deadline=None, max_examples=100)
@pytest.mark.parametrize("lines", [False, True])
def test_no_workflow_finds_a_command(text: str, lines: bool) -> None:
    """A line of inert text is printable, does not begin with `::` after blanks, and has no `##[`."""
    assert [] == hostile.faults(inert(text, lines=lines))
    assert [] == hostile.faults(dump_ascii({text: [text]}))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n ::error::b", "a\n \\u003a:error::b"),
        ("##[error]x ##vso[y]", "##\\u005berror]x ##vso\\u005by]"),
        ("a::b # [c] ## d", "a::b # [c] ## d"),
        ("\udcff", "\\udcff"),
    ],
)
def test_a_command_is_spelled_out(text: str, shown: str) -> None:
    """The first character of a command, or its bracket, is spelled out; the rest stays."""
    assert shown == inert(text, lines=True)


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_markdown_shows_the_text(text: str) -> None:
    """Markdown shows foreign text as it is. In a thread it mentions nobody and refers to nothing."""
    shown, _ = rendered(f"{in_markdown(text)}x")
    line = printable(re.sub(r"\s", " ", text)).lstrip(" ")
    assert f"{line}x" == shown.replace("\u200b", "")
    assert not REFERENCE.search(shown)
    assert [] == hostile.faults(in_markdown(text))


@given(text=ODD)
@example(text="`a`b`c``")
@settings(deadline=None, max_examples=100)
def test_code_and_sentences_have_no_markup_but_code(text: str) -> None:
    """Backticks in pairs are code in a sentence; nothing in a text can end its code, or begin anything else."""
    cell = f"x {sentence(text)} {in_code(text)} x"
    plain, code = rendered(cell)
    assert not REFERENCE.search(plain)
    assert ("`" in text) or printable(text).strip(" ") in code.replace("\u200b", "")
    assert not re.search(r"(?<!\\)\|", cell)


def test_a_name_of_odd_bytes_can_be_written() -> None:
    """Lone surrogates, which stand for bytes that are not UTF-8, are spelled out; all else stays."""
    assert "a\\udcff é\tb" == encodable("a\udcff é\tb")
