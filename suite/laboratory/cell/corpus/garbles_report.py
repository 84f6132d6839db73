"""Cases that write to the probe's pipe."""

import os

from laboratory.cell.corpus import Seen, case, issue, report_pipe, right


def half_a_line() -> Seen:
    """Is half a line of JSON taken for an answer?"""
    os.write(report_pipe(), b'{"part": "reproducer", "outcome": "retur')
    return right()


def half_a_line_and_gone() -> Seen:
    """Is half a line of JSON taken for an answer if nothing follows?"""
    os.write(report_pipe(), b'{"part": "reproducer", "outcome": "retur')
    os._exit(0)


def nested_too_deep() -> Seen:
    """Does JSON that is nested too deep to be read do any harm?"""
    os.write(report_pipe(), b"[" * 50_000 + b"\n")
    os._exit(0)


def flood() -> Seen:
    """Is the size of a report limited?"""
    handle = report_pipe()
    while True:
        os.write(handle, b"x" * 65536)


ISSUE = issue(case(half_a_line), case(half_a_line_and_gone), case(flood), case(nested_too_deep))
