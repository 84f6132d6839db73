"""Its exceptions and warnings have signatures."""

import json
import warnings

from jax_stack_compat.cell import Signature
from laboratory.cell.corpus import Seen, case, issue, right

_REFUSED = Signature("JSONDecodeError", "Expecting…line 1")
_WARNED = Signature("DeprecationWarning", "not … for long")


def raises() -> Seen:
    """Is it refused from inside of json?"""
    json.loads("{]")
    return right()


def warns() -> Seen:
    """Is there a warning, and then an answer?"""
    for year in ("this", "next"):
        warnings.warn(f"not so for long: {year} year", DeprecationWarning, stacklevel=2)
    return right()


def warns_and_raises() -> Seen:
    """Does what ends it count before what it was warned of?"""
    warns()
    return raises()


def is_quiet() -> Seen:
    """Does an answer count where nothing was raised?"""
    return right()


ISSUE = issue(
    case(raises, expected="refused", signatures={"refused": _REFUSED}),
    case(raises, "by_module", expected="refused", signatures={"refused": Signature("JSONDecodeError", module="json")}),
    case(raises, "of_another_module", signatures={"refused": Signature("JSONDecodeError", module="tomllib")}),
    case(raises, "in_table_order", expected="wrong", signatures={"wrong": (_WARNED, _REFUSED), "refused": _REFUSED}),
    case(raises, "in_interpreter", expected="refused", isolation="interpreter", signatures={"refused": _REFUSED}),
    case(warns, expected="refused", signatures={"refused": (_REFUSED, _WARNED)}),
    case(warns, "unasked", signatures={"refused": _REFUSED}),
    case(
        warns,
        "by_module_warned",
        expected="wrong",
        signatures={
            "refused": Signature("DeprecationWarning", module="json"),
            "wrong": Signature("DeprecationWarning", module=__name__),
        },
    ),
    case(warns_and_raises, expected="wrong", signatures={"refused": _WARNED, "wrong": _REFUSED}),
    case(is_quiet, signatures={"refused": (_REFUSED, _WARNED)}),
)
