"""Starts more processes than memory could hold if what they share were each one's own."""

from __future__ import annotations

import os
import time

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue

MANY, MIB = 24, 64


def in_shared_memory() -> Seen:
    """Is memory that forks share with their parent counted once?"""
    held = bytearray(os.urandom(1024) * 1024 * MIB)
    for _ in range(MANY):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    time.sleep(0.5)
    return "right", f"{len(held)} bytes"


ISSUE = issue(case(in_shared_memory, memory_mib=768))
