"""The guardian: runs the probe in a process that is ended with all that it has started, however either of them ends.

Cell side. On Linux, where the kernel lets it, the probe is the first process of a PID namespace: when it is gone, the
kernel ends what it left, and nothing in there can reach a process outside, or end the probe itself. In a mount
namespace of its own, a case cannot write where the packages are (`shut`). Where the kernel refuses, the guardian is
told of every stray that loses its parent, and ends them; that a case leaves the packages alone is then checked, and
not enforced.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

_IS_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_ENDED_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# What a namespace is tried out with ends with this where there is one.
_WELL = 0


def keep(work: Callable[[bool], int]) -> int:
    """Do `work` in a process of its own, and end all that it has started. Returns its exit status, as a shell has it.

    `work` is told whether it is in namespaces of its own.
    """
    parent = os.getppid()
    become_subreaper()
    apart = can_be_apart()
    for number in _ENDED_BY:
        signal.signal(number, _leave)
    if apart:
        _unshare()
    # Only now: who becomes another user is no longer told of its parent's end.
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:
        _leave(signal.SIGTERM, None)
    pid = os.fork()
    if pid == 0:
        _begin(work, apart=apart)
    # The driver waits for the end of what the probe says: only the probe may hold it open.
    os.dup2(2, 1)
    try:
        _, status = os.waitpid(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        end(pid)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _begin(work: Callable[[bool], int], *, apart: bool) -> None:
    """Do `work` in the process that was forked for it, and leave without the interpreter's farewell.

    What is no Exception passes: a process that `work` has forked goes its own way out.
    """
    try:
        if apart:
            # The kernel then ends all that is left in the namespace.
            die_with_parent(signal.SIGKILL)
            _mount_own()
        else:
            die_with_parent(signal.SIGTERM)
            become_subreaper()
        status = work(apart)
    except (Exception, KeyboardInterrupt) as error:
        traceback.print_exc()
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    sys.stderr.flush()
    os._exit(status)


def _leave(number: int, _: object) -> None:
    sys.exit(128 + number)


def end(pid: int) -> None:
    """End a process with its session, and all that it has left, down to the last stray.

    Strays become children of this process: it is a subreaper, or the first of a namespace.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
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


def shut(folders: Iterable[str]) -> None:
    """Have this process, and what it starts, not write into `folders`, and keep its shared memory to itself.

    Only in a namespace of the probe's. Raises OSError where the kernel refuses.
    """
    _call("unshare", _CLONE_NEWNS)
    for folder in folders:
        _mount(folder, folder, "", _MS_BIND | _MS_REC)
        # What is mounted without these flags for a reason, this process could not mount with them.
        kept = os.statvfs(folder).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        _mount(folder, folder, "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)
    if Path("/dev/shm").is_dir():
        _mount("shm", "/dev/shm", "tmpfs", _MS_NOSUID | _MS_NODEV)


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
