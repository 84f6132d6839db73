"""Cases with requirements that no machine meets."""

from laboratory.cell.corpus import Seen, case, issue, right, well


def cpu() -> Seen:
    """Is it run without the CPU it needs?"""
    return right()


def python() -> Seen:
    """Is it run under a Python that it is not about?"""
    return right()


ISSUE = issue(case(python, python="<3.0"), case(cpu, cpu=("abacus",), needs=("jax",), workaround=well))
