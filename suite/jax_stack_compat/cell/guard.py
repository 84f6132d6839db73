"""The guardian: starts a command in a process that is ended with all that it has started, however either of them ends.

    python -E -s -S -c BOOT ROOT jax_stack_compat.cell.guard TOLD COMMAND…

Cell side. The guardian reads no `.pth` file, so nothing that is installed runs before the command does. On Linux, where
the kernel lets it, the command is the first process of a PID namespace: when it is gone, the kernel ends what it left,
and nothing in there can reach a process outside, or end the command itself. In a mount namespace of its own, it cannot
write into the folders that it was told to shut, nor a case where the packages are (`shut`). Where the kernel refuses,
the guardian is told of every stray that loses its parent, and ends them; that a case leaves the packages alone is then
checked, and not enforced.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_IS_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
ENDED_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# More than any case needs, and few enough for a machine to bear.
MOST_PROCESSES = 1000
# The last word of the command: whether it is in namespaces of its own.
APART, BARE = "apart", "bare"
# Seconds.
_LOOK = 0.25
# A shell's exit status for a command that cannot be started.
_NOT_STARTED = 127
# What a namespace is tried out with ends with this where there is one.
_WELL = 0


def keep(
    parent: int, command: Sequence[str], *, namespaces: bool, shut: Sequence[str] = (), opened: Sequence[str] = ()
) -> int:
    """Run `command` in a process of its own, and end all that it has started. Return its exit status, as in a shell.

    `parent` is the process that asked for it: when it ends, so does the command. With `namespaces`, the command has its
    own where the kernel gives them, and cannot write into the folders `shut`, but for the folders `opened`; its last
    word is then whether that is so.
    """
    become_subreaper()
    apart = namespaces and can_be_apart()
    if namespaces:
        command = [*command, APART if apart else BARE]
    for number in ENDED_BY:
        signal.signal(number, _leave)
    if apart:
        _unshare()
    # Only now: who becomes another user is no longer told of its parent's end.
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:
        _leave(signal.SIGTERM, None)
    alive, held = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(held)
        _begin(command, alive, shut, opened, apart=apart)
    # The driver waits for the end of what the command says: only the command may hold it open.
    os.dup2(2, 1)
    try:
        status = _wait(pid, apart=apart)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        end(pid)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _begin(command: Sequence[str], alive: int, shut: Sequence[str], opened: Sequence[str], *, apart: bool) -> None:
    """Become `command`, in a session of its own. The pipe `alive` is closed when the guardian ends."""
    try:
        if apart:
            # The kernel then ends all that is left in the namespace.
            die_with_parent(signal.SIGKILL)
            _mount_own()
            _seal(shut, opened)
        else:
            die_with_parent(signal.SIGTERM)
            become_subreaper()
        os.setsid()
        # The guardian may have ended before the kernel was told.
        if not select.select([alive], [], [], 0)[0]:
            os.execv(command[0], list(command))
    except OSError:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(_NOT_STARTED)


def _wait(pid: int, *, apart: bool) -> int:
    """Return the status that a process ended with; end it if it is stopped or has started too many processes."""
    handles = [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") else []
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if ended and not os.WIFSTOPPED(status):
            return status
        if why := "it was stopped" if ended else _too_many(apart=apart):
            print(f"{why}, and was ended", file=sys.stderr, flush=True)
            os.kill(pid, signal.SIGKILL)
        select.select(handles, [], [], _LOOK if handles else _LOOK / 10)


def _too_many(*, apart: bool) -> str:
    """Return what is wrong with the number of processes, or ""."""
    if not apart:
        count = sum(1 for _ in descendants(os.getpid()))
    elif Path("/proc/self").exists():
        # The command has not yet mounted the /proc of its namespace, to which the guardian does not belong.
        count = 0
    else:
        count = sum(name.isdecimal() for name in os.listdir("/proc"))  # noqa: PTH208  strings are enough
    return f"it had started {count} processes" if count > MOST_PROCESSES else ""


def _leave(number: int, _: object) -> None:
    sys.exit(128 + number)


def leave_at_once(number: int, _: object) -> None:
    """End all that this process has started, and leave. An exception could be caught by what is being imported."""
    _end_strays()
    os._exit(128 + number)


def end(pid: int) -> None:
    """End a process with its session, and all that it has left, down to the last stray.

    Strays become children of this process: it is a subreaper, or the first of a namespace.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _end_strays()


def _end_strays() -> None:
    if os.getpid() == 1:
        # The first of its namespace is spared; all others are ended at once, and none can be started in between.
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    while strays := children(os.getpid()):
        for stray in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(stray, signal.SIGKILL)
        for stray in strays:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(stray, 0)


def children(pid: int) -> list[int]:
    """The children of a process, by the kernel; none where it does not say."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> Iterator[int]:
    """Yield all processes that a process has started, and that these have."""
    ahead = children(pid)
    while ahead:
        found = ahead.pop()
        yield found
        ahead += children(found)


def shut(folders: Iterable[str]) -> None:
    """Have this process, and what it starts, not write into `folders`, and keep its shared memory to itself.

    Only in a namespace of the probe's. Raises OSError where the kernel refuses.
    """
    _call("unshare", _CLONE_NEWNS)
    for folder in folders:
        _make_read_only(folder)
    _mount_shared_memory()


def _mount_shared_memory() -> None:
    if Path("/dev/shm").is_dir():
        _mount("shm", "/dev/shm", "tmpfs", _MS_NOSUID | _MS_NODEV)


def _make_read_only(folder: str) -> None:
    _mount(folder, folder, "", _MS_BIND | _MS_REC)
    # What is mounted without these flags for a reason, this process could not mount with them.
    kept = os.statvfs(folder).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount(folder, folder, "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)


def _seal(folders: Iterable[str], opened: Iterable[str]) -> None:
    """Make `folders` read-only for this process, but for those `opened` in them, as far as the kernel lets it.

    Its shared memory is its own.
    """
    # A mount in a folder goes with it, and keeps its own flags.
    for folder in opened:
        with contextlib.suppress(OSError):
            _mount(folder, folder, "", _MS_BIND | _MS_REC)
    for folder in folders:
        with contextlib.suppress(OSError):
            _make_read_only(folder)
    with contextlib.suppress(OSError):
        _mount_shared_memory()
    # What was opened before is still where it can be written.
    os.chdir(Path.cwd())


def die_with_parent(number: signal.Signals) -> None:
    """Have the kernel send this to the process when its parent ends, however that ends. Linux only."""
    if _IS_LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def become_subreaper() -> None:
    """Have what a child leaves behind become a child of this process, so that it can be found. Linux only."""
    if _IS_LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def can_be_apart() -> bool:
    """Return True if the kernel gives this user namespaces. It has many reasons to refuse, so try it in a fork."""
    if not _IS_LINUX:
        return False
    tried = os.fork()
    if tried == 0:
        status = 1
        with contextlib.suppress(OSError):
            _unshare()
            if (first := os.fork()) == 0:
                with contextlib.suppress(OSError):
                    _mount_own()
                    shut([sys.prefix])
                    status = _WELL
                os._exit(status)
            status = os.waitpid(first, 0)[1]
        os._exit(bool(status))
    return os.waitpid(tried, 0)[1] == _WELL


def _unshare() -> None:
    """Have the next child be the first of a PID namespace, in a mount namespace; as a user who may do that."""
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", _CLONE_NEWPID | _CLONE_NEWNS)
    except PermissionError:
        _call("unshare", _CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNS)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")


def _mount_own() -> None:
    """Let no mount reach the machine's, and have /proc show this namespace."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    _call("mount", source.encode(), target.encode(), kind.encode() or None, flags, None)


def _call(name: str, *arguments: object) -> None:
    """A system call by libc: Python has these from 3.12 on, or not at all. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    function = getattr(libc, name)
    if name == "mount":
        function.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    os._exit(keep(command=sys.argv[2:], **json.loads(sys.argv[1])))
