"""Processes that tests start, and their surroundings."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from jax_stack_compat.base.files import ROOT

NOTHING: Mapping[str, str] = {}


def default_signals() -> None:
    """Let signals end the process about to be started, whose parent may ignore them (`preexec_fn`)."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """A test that waits longer fails, so that the run ends."""

    def over(*_: object) -> None:
        raise AssertionError(f"it waits for more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def piped_in(text: str) -> Iterator[None]:
    """Replace this process's standard input by a pipe with this content."""
    before, (reading, writing) = os.dup(0), os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def python(
    *words: str, folder: Path = ROOT, asked: str = "", stdout: Any = subprocess.PIPE, env: Mapping[str, str] = NOTHING
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder, with these variables besides, and return how it ended."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **env},
        input=asked,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def printed(*words: str, folder: Path = ROOT, env: Mapping[str, str] = NOTHING) -> str:
    """Return the output of this interpreter, which must succeed."""
    ran = python(*words, folder=folder, env=env)
    assert 0 == ran.returncode, ran.stderr
    return ran.stdout


def git(folder: Path, *words: str) -> str:
    """Return the output of a git command in a repository."""
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, check=True).stdout.decode()


def lacking(what: str) -> NoReturn:
    """Skip a test that this machine cannot run; in CI, fail instead."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


def needs_valgrind() -> None:
    """Skip a test that counts instructions on a machine that cannot."""
    if shutil.which("valgrind") is None:
        lacking("no valgrind on this machine, which .ci/run installs: no instruction is counted")


def program(path: Path, *lines: str) -> Path:
    """Write an executable shell script to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def clone(folder: Path, wanted: Callable[[str], object] = lambda name: True) -> Path:
    """Copy the tree as git would clone it to `folder`, or the files whose names are `wanted`."""
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in (name for name in names if wanted(name) and (ROOT / name).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def without_pages(name: str) -> bool:
    """Return True for a file outside the subfolders of reports/, which have hundreds of pages."""
    return not name.startswith("reports/") or name.count("/") == 2
