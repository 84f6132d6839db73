"""The calls, from recipes.txt: a line for the functions of a module that are called alike. Read by both sides.

In a line's calls `f` is the function, and other words are names of inputs. Its first call is made in other forms, too:
under jit, under vmap, and its gradient, for the first function or (`grads`) for each. The reference is a module with
functions of the same names. A call after `[left out]` is not made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from laboratory.cell.numbers.inputs import INPUTS

PATH = Path(__file__).with_name("recipes.txt")
OF_DEVICES = Path(__file__).with_name("of_devices.txt")
_WORDS = re.compile(r"[A-Za-z_][\w.]*")
# A dtype is no input.
_QUOTED = re.compile(r"'[^']*'")


@dataclass(frozen=True)
class NumericCall:
    """A call of a function: an expression, and the inputs that it names."""

    function: str
    text: str
    form: str
    inputs: tuple[str, ...]
    reference: str

    @property
    def x64(self) -> bool:
        """True if the call needs 64-bit numbers."""
        return any(INPUTS[name][0] in ("float64", "int64") for name in self.inputs)

    @property
    def key(self) -> str:
        """The call as it is kept: `jit jax.numpy.sin(float32)`."""
        return f"{self.form} {self.text}"


@cache
def calls(path: Path = PATH) -> tuple[NumericCall, ...]:
    """Return every call, by line; each form of a call is one. Only devices make the calls in OF_DEVICES."""
    found: dict[str, NumericCall] = {}
    home = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            home = line.strip("[]")
        elif home == "left out" and line and not line.startswith("#"):
            del found[line]
        elif line and not line.startswith("#"):
            names, words, forms, reference = (part.strip() for part in f"{line} | | ".split("|")[:4])
            found.update((call.key, call) for call in _of(home, names, words, forms.split(), reference))
    return tuple(found.values())


def _of(home: str, names: str, calls: str, forms: list[str], reference: str) -> Iterator[NumericCall]:
    for place, name in enumerate(names.split()):
        function = f"{home}.{name.partition('(')[0]}"
        # Gradients are for the first function alone, unless the line asks for `grads`.
        wanted = [form.rstrip("s") for form in forms if place == 0 or form != "grad"]
        for number, words in enumerate(calls.split("; ")):
            text = re.sub(r"\bf\(", f"{home}.{name}(", words, count=1)
            named = [word.partition(".")[0] for word in _WORDS.findall(_QUOTED.sub("", words))]
            inputs = tuple(dict.fromkeys(name for name in named if name in INPUTS))
            for form in ("eager", *(form for form in wanted if number == 0 and (inputs or form == "jit"))):
                yield NumericCall(function, text, form, inputs, reference)
