"""Watches one program with everything that it starts, and leaves nothing of it running.

Imported by the launcher alone, from the folder that both stand in; only the standard library is
there. In a process namespace of its own, the end of the first process is the end of all. Without
one, the descendants are looked for: a child that changes its group or its session is still found,
because orphans fall to this process.
"""

import contextlib
import ctypes
import os
import resource
import signal
import stat
import time
from typing import Any, Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWPID: Final = 0x20000000
_FIRST_POLL_SECONDS: Final = 0.001
_POLL_SECONDS: Final = 0.02
# A program that starts others without end must not keep its watcher from running.
_NICENESS: Final = 10
_KILL_SECONDS: Final = 2.0
_STATUS_BYTES: Final = 16
_NOT_STARTED: Final = 127
# So that a breach is seen before the kernel refuses the next process.
_SPARE_PROCESSES: Final = 64
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
# Fields of proc_pid_stat(5) behind the name of the program, counted from 0.
_PARENT: Final = 1
_RSS: Final = 21


class Stopped(Exception):  # noqa: N818 - no error: this process was asked to end
    """The parent asked to end."""


def watch(command: list[str], bounds: dict[str, int]) -> dict[str, Any]:
    """Run a program to its end and end all that it left.

    Takes: the program; `processes` and `resident_bytes`, bounds for all of it together, and
        `user`, under which a root user's program runs.
    Returns: `status`, negative for a signal; `breach`, "processes" or "memory" when a bound was;
        `namespace`, whether it had a process namespace of its own.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    has_namespace = _leave_processes(libc)
    signal.signal(signal.SIGTERM, _stop)
    told, telling = os.pipe()
    first = os.fork()
    if first == 0:
        _child(command, libc, bounds, telling if has_namespace else None)
    os.close(telling)
    breach: str | None = None
    status: int | None = None
    try:
        breach, status = _until_end(first, bounds)
    except Stopped:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if status is None:
            # In a namespace, this is the end of all.
            os.kill(first, signal.SIGKILL)
        elif has_namespace:
            status = _told_status(told, status)
        _end_all()
    killed = -int(signal.SIGKILL)
    ended = killed if status is None else status
    return {"status": ended, "breach": breach, "namespace": has_namespace}


def _told_status(told: int, status: int) -> int:
    """Return how the program ended, as the first process of its namespace saw it."""
    text = os.read(told, _STATUS_BYTES)
    return int(text) if text else status


def _stop(*_: object) -> None:
    raise Stopped


def _leave_processes(libc: Any) -> bool:
    """Give what follows process numbers of its own; a user namespace makes that possible."""
    if os.geteuid() == 0 and libc.unshare(_CLONE_NEWPID) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID) != 0:
        return False
    with contextlib.suppress(OSError):
        for path, text in (
            ("/proc/self/setgroups", "deny"),
            ("/proc/self/uid_map", f"{user} {user} 1"),
            ("/proc/self/gid_map", f"{group} {group} 1"),
        ):
            with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - as in the launcher
                file.write(text)
    return True


def _child(command: list[str], libc: Any, bounds: dict[str, int], telling: int | None) -> None:
    """Become the program, or in a namespace its first process, which starts the program.

    That first process tells by `telling` how the program ended: it cannot end by a signal itself.
    """
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        program = 0 if telling is None else os.fork()
        if program == 0:
            _become_small(bounds)
            # Forgotten with the user.
            libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            os.execve(command[0], command, os.environ)  # noqa: S606 - no shell is meant
        while True:
            ended, status = os.wait()
            if ended == program and telling is not None:
                os.write(telling, str(os.waitstatus_to_exitcode(status)).encode("ascii"))
                os._exit(0)
    except OSError:
        os._exit(_NOT_STARTED)


def _become_small(bounds: dict[str, int]) -> None:
    """Give up root, and the means to crowd out everything else on the machine.

    The kernel counts processes by user and leaves root out; what the user had before is added.
    """
    # A session of its own gets its own share of the processors, and not its watcher's signals.
    os.setsid()
    os.nice(_NICENESS)
    user = os.getuid()
    if user == 0:
        user = bounds["user"]
        _give_streams(user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    limit = bounds["processes"] + _SPARE_PROCESSES + _processes_of(user)
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))


def _give_streams(user: int) -> None:
    """Let the program open its own streams by name, as /dev/stderr: only the owner of a pipe may."""
    for stream in (0, 1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(os.fstat(stream).st_mode):
                os.fchown(stream, user, -1)


def _processes_of(user: int) -> int:
    found = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - as in the launcher
        with contextlib.suppress(OSError):
            found += name.isdigit() and os.stat(f"/proc/{name}").st_uid == user  # noqa: PTH116
    return found


def _until_end(first: int, bounds: dict[str, int]) -> tuple[str | None, int | None]:
    pause = _FIRST_POLL_SECONDS
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == first:
            return None, os.waitstatus_to_exitcode(status)
        if ended == 0:
            time.sleep(pause)
            pause = min(2 * pause, _POLL_SECONDS)
            family = _descendants()
            if len(family) > bounds["processes"]:
                return "processes", None
            if sum(family.values()) * _PAGE_BYTES > bounds["resident_bytes"]:
                return "memory", None


def _end_all() -> None:
    """Kill all descendants until none is left; one that forks meanwhile is met in the next round."""
    deadline = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < deadline:
        for process in _descendants():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_FIRST_POLL_SECONDS)


def _descendants() -> dict[int, int]:
    """List all processes below this one, with the pages that each holds in memory."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - as in the launcher
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
                children.setdefault(int(fields[_PARENT]), []).append((int(name), int(fields[_RSS])))
    found: dict[int, int] = {}
    left = [os.getpid()]
    while left:
        for process, pages in children.get(left.pop(), ()):
            found[process] = pages
            left.append(process)
    return found
