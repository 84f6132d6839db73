"""A case that waits for a file."""

import os
import time

from laboratory.cell.corpus import Seen, case, folder, issue, note, right


def for_word() -> Seen:
    """Is there a file called go?"""
    note(os.getpid())
    while not (folder() / "go").exists():
        time.sleep(0.01)
    return right()


ISSUE = issue(case(for_word))
