"""Runs a few cases through the real probe in each of many odd surroundings, two at a time.

    python -m tests.faults.surroundings FOLDER PYTHON

Each environment gets a fork of a process that has imported the suite. The fork changes its environment, runs the cases
with the interpreter PYTHON, and writes the results to `<surroundings>.json` and its messages to `<surroundings>.err`.
"""

import json
import os
import resource
import sys
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jax_stack_compat.base.files import read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Key, Record
from laboratory.run.spread.worker import Kept

KEY = Key(lock="0", issue="0", probe="0", python="3.12", platform="here")
# Cases with every kind of end, by module of the corpus; one runs in its own interpreter.
CASES = {
    **{"clear": ("plain", "in-interpreter"), "affected": ("plain",), "absent": ("plain",)},
    **{"crashed": ("documented",), "recognised": ("warns",)},
}


def variables(**given: str) -> Callable[[], None]:
    """These environment variables."""
    return lambda: os.environ.update(given)


def limit(name: str, soft: int, hard: int | None = None) -> Callable[[], None]:
    """A limit of the shell; without `hard`, it can be raised."""

    def put() -> None:
        kind = getattr(resource, name)
        resource.setrlimit(kind, (soft, resource.getrlimit(kind)[1] if hard is None else hard))

    return put


def without_folder() -> None:
    """Use a working folder that was removed."""
    gone = Path.cwd() / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()


SURROUNDINGS: Mapping[str, Callable[[], object]] = {
    "plain": lambda: None,
    "jax": variables(JAX_PLATFORMS="banana", JAX_ENABLE_X64="banana", XLA_FLAGS="--nonsense"),
    "python-paths": variables(PYTHONPATH="{folder}/modules", PYTHONHOME="/nowhere"),
    "python-settings": variables(
        **{"PYTHONSTARTUP": "{folder}/modules/json.py", "PYTHONINSPECT": "1", "PYTHONWARNINGS": "error"},
        **{"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"},
    ),
    "locale-c": variables(LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
    "locale-posix": variables(LC_ALL="POSIX", PYTHONIOENCODING="latin-1"),
    "locale-missing": variables(LC_ALL="xx_YY.banana", LANG="tr_TR"),
    "home-missing": variables(HOME="/nowhere"),
    "home-unwritable": variables(HOME="/proc"),
    "home-a-file": variables(HOME="/etc/passwd"),
    "home-unset": lambda: os.environ.pop("HOME", None),
    "libraries": variables(
        **{"TZ": ":::Nowhere/Odd", "TMPDIR": "/nowhere", "LD_PRELOAD": "/nowhere.so"},
        **{"OMP_NUM_THREADS": "banana", "OPENBLAS_NUM_THREADS": "banana", "MKL_NUM_THREADS": "banana"},
    ),
    "umask-open": lambda: os.umask(0),
    "umask-own": lambda: os.umask(0o077),
    "umask-shut": lambda: os.umask(0o777),
    "no-folder": without_folder,
    "no-input": lambda: os.close(0),
    "few-files": limit("RLIMIT_NOFILE", 32),
    "too-few-files": limit("RLIMIT_NOFILE", 32, 32),
    "small-files": limit("RLIMIT_FSIZE", 4096),
    "too-small-files": limit("RLIMIT_FSIZE", 4096, 4096),
    "little-memory": limit("RLIMIT_AS", 2 * 1024**3, 2 * 1024**3),
    "small-stack": limit("RLIMIT_STACK", 64 * 1024),
    "few-processes": limit("RLIMIT_NPROC", 5, 5),
    "little-time": limit("RLIMIT_CPU", 1, 1),
}


def run(folder: Path, python: Path) -> dict[str, Any]:
    """Return the verdict on each case, and the reason if the probe was given up."""
    entries = [catalogue.entry(f"laboratory.cell.corpus.{module}") for module in CASES]
    tasks = [
        Task(entry, case, case.rules[0].behaviour, folder / entry.issue.id / f"{case.id}.json", KEY)
        for entry in entries
        for case in entry.issue.cases
        if case.id in CASES[entry.module.rpartition(".")[2]]
    ]
    log = folder / "probe.log"
    ended = probe_call.call(python, "jax-0.0.0", [], tasks, Kept(), remake=lambda: python, log=log)
    found = {
        f"{task.entry.module}/{task.case.id}": [judged.verdict, judged.reason]
        for task in tasks
        if task.record.exists()
        for judged in [verdicts.judge(task.case, read(Record, task.record).attempts)]
    }
    return {"cases": len(tasks), "found": found, "reason": ended.reason, "detail": ended.detail}


def apart(name: str, folder: Path, python: Path) -> int:
    """Run the cases in a process of their own with these surroundings; its exit status."""
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        own = folder / name
        own.mkdir()
        os.chdir(own)
        errors = os.open(folder / f"{name}.err", os.O_WRONLY | os.O_CREAT)
        answer = os.open(folder / f"{name}.json", os.O_WRONLY | os.O_CREAT)
        os.dup2(errors, 2)
        SURROUNDINGS[name]()
        os.environ.update({key: each.format(folder=folder) for key, each in os.environ.items() if "{folder}" in each})
        os.write(answer, json.dumps(run(own, python)).encode())
    except BaseException:
        os.write(2, traceback.format_exc().encode())
        os._exit(1)
    os._exit(0)


def main(folder: Path, python: Path) -> None:
    """Run the cases in all of them."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: apart(name, folder, python), SURROUNDINGS))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
