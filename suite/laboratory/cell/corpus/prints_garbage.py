"""Its output is not text, or looks like the probe's."""

import os

from laboratory.cell.corpus import Seen, case, issue, right

_GARBAGE = bytes(range(256)) * 8 + b'\n{"event": "done", "issue": "nobody", "case": "nowhere"}\n{"part": "reproducer"\n'

print("not the probe's words either: said as this module is imported")


def plain() -> Seen:
    """Does noise on its output do any harm?"""
    print("not the probe's words")
    for handle in (1, 2):
        os.write(handle, _GARBAGE)
    return right()


def then_exits() -> Seen:
    """Is the noise kept if the case fails?"""
    os.write(1, _GARBAGE)
    os._exit(3)


ISSUE = issue(case(plain), case(then_exits))
