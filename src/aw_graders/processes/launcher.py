"""Starts one program behind the fences that this machine has, and says which of them stood.

Run as a script of its own, `python -I -S launcher.py ORDER PROGRAM ARGUMENT…`, so that fences never
touch the process that asked for them. `ORDER` is a JSON object:

* `report`: the descriptor to write the answer to, one JSON object;
* `environment`: the names of the variables that the program may find;
* `fences`: names out of `FENCES`; one that the machine does not have is left out and not reported;
* `readable`, `executable`: paths that stay readable when `landlock` stands; the rest is closed;
* `data_bytes`: how much the program may allocate, or null;
* `group`: null, or bounds for the program with all its descendants, `processes` and `resident_bytes`.
  The launcher then stays and ends whatever the program leaves behind, also what left its group.

It imports nothing but the standard library. Source: landlock(7), seccomp(2), namespaces(7).
"""

import contextlib
import ctypes
import importlib
import json
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2
_SIGKILL: Final = 9
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000
_CLONE_NEWIPC: Final = 0x08000000

# Classic BPF, as linux/filter.h has it.
_LOAD_WORD: Final = 0x20
_JUMP_EQUAL: Final = 0x15
_JUMP_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_EPERM: Final = 0x00050001
_X32: Final = 0x40000000
# What opens a connection, looks into another process, or goes round this filter.
_REFUSED: Final = {
    "x86_64": (
        0xC000003E,
        (41, 42, 43, 49, 50, 53, 101, 288, 310, 311, 321, 425, 426, 427, 434, 438),
    ),
    "aarch64": (
        0xC00000B7,
        (117, 198, 199, 200, 201, 202, 203, 242, 270, 271, 280, 425, 426, 427, 434, 438),
    ),
}
_FIRST_X86_64_ONLY: Final = "x86_64"

_LANDLOCK_CREATE: Final = 444
_LANDLOCK_ADD: Final = 445
_LANDLOCK_RESTRICT: Final = 446
_LANDLOCK_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_EXECUTE: Final = 1 << 0
_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
# How many file rights each version of the interface knows.
_RIGHTS_OF: Final = (0, 13, 14, 15, 15, 16)
_NET_FROM: Final = 4
_SCOPE_FROM: Final = 6


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _no_new_privileges(order: dict[str, Any]) -> bool:  # noqa: ARG001 - all fences take the order
    return bool(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)


def _network_namespace(order: dict[str, Any]) -> bool:  # noqa: ARG001
    """Leave every network; a new user namespace makes that possible without any right."""
    user, group = os.getuid(), os.getgid()
    libc = _libc()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) != 0:
        return False
    # Without a map the program would see nobody as its owner; rights to files do not change.
    with contextlib.suppress(OSError):
        _put("/proc/self/setgroups", "deny")
        _put("/proc/self/uid_map", f"{user} {user} 1")
        _put("/proc/self/gid_map", f"{group} {group} 1")
    return True


def _put(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - no more imports here
        file.write(text)


def _seccomp(order: dict[str, Any]) -> bool:  # noqa: ARG001
    """Refuse sockets and looks into other processes with EPERM."""
    machine = platform.machine()
    if machine not in _REFUSED:
        return False
    architecture, numbers = _REFUSED[machine]
    rules = [
        (_LOAD_WORD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD_WORD, 0, 0, 0),
    ]
    if machine == _FIRST_X86_64_ONLY:
        rules += [(_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for number in numbers:
        rules += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _EPERM)]
    rules.append((_RETURN, 0, 0, _ALLOW))
    code = b"".join(struct.pack("=HBBI", *rule) for rule in rules)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HxxxxxxP", len(rules), ctypes.addressof(held))
    answer = _libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(program), 0, 0)
    return bool(answer == 0)


def _landlock(order: dict[str, Any]) -> bool:
    """Close all files but those named, all TCP ports, and signals to other processes."""
    libc = _libc()
    libc.syscall.restype = ctypes.c_long
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    if version < 1:
        return False
    rights = 2 ** _RIGHTS_OF[min(int(version), len(_RIGHTS_OF) - 1)] - 1
    attributes = struct.pack(
        "=QQQ", rights, 3 if version >= _NET_FROM else 0, 3 if version >= _SCOPE_FROM else 0
    )
    size = 24 if version >= _SCOPE_FROM else 16 if version >= _NET_FROM else 8
    rules = libc.syscall(_LANDLOCK_CREATE, ctypes.c_char_p(attributes), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    reading = _READ_FILE | _READ_DIR
    for path in order.get("readable", ()):
        _open_up(libc, rules, path, reading)
    for path in order.get("executable", ()):
        _open_up(libc, rules, path, reading | _EXECUTE)
    _open_up(libc, rules, "/dev/null", _READ_FILE | _WRITE_FILE)
    answer = libc.syscall(_LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return bool(answer == 0)


def _open_up(libc: Any, rules: int, path: str, rights: int) -> None:
    """Allow `rights` to what lies at a path; one that does not exist needs none."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    # A right to list is refused for what is no folder.
    is_folder = os.path.isdir(path)  # noqa: PTH112 - no more imports here
    rule = struct.pack("=Qi", rights if is_folder else rights & ~_READ_DIR, opened)
    libc.syscall(_LANDLOCK_ADD, rules, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
    os.close(opened)


FENCES: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "no-new-privileges": _no_new_privileges,
    "network-namespace": _network_namespace,
    "landlock": _landlock,
    "seccomp": _seccomp,
}


def _fenced(order: dict[str, Any]) -> list[str]:
    """Put up the fences in their order; none that fails keeps another from standing."""
    stood: list[str] = []
    for name in FENCES:
        if name not in order["fences"]:
            continue
        with contextlib.suppress(OSError, AttributeError, ValueError):
            if FENCES[name](order):
                stood.append(name)
    return stood


def _forget_signals() -> None:
    """Undo what a program would inherit: a pipe whose reader left ends its writer, for instance."""
    for number in signal.valid_signals():
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def main(arguments: Sequence[str]) -> None:
    """Become the program, or watch it."""
    order = json.loads(arguments[0])
    _libc().prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order["data_bytes"] is not None:
        limit = order["data_bytes"]
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    for name in {*os.environ} - {*order["environment"]}:
        # The interpreter itself sets one, LC_CTYPE, when it is started without a language.
        del os.environ[name]
    _forget_signals()
    command, group = list(arguments[1:]), order["group"]
    os.set_inheritable(order["report"], False)  # noqa: FBT003 - its signature
    watch: Callable[[list[str], Any], dict[str, Any]] | None = None
    if group is not None:
        # Beside this script; with -I its folder is not looked at.
        sys.path.append(os.path.dirname(__file__))  # noqa: PTH120 - no more imports here
        watch = importlib.import_module("group").watch
    stood = _fenced(order)
    # Behind the fences nothing can be imported any more, an encoding for instance.
    answer: dict[str, Any] = {"fences": stood}
    if watch is None:
        os.write(order["report"], json.dumps(answer).encode())
        os.execve(command[0], command, os.environ)  # noqa: S606 - no shell is meant
    answer |= watch(command, group)
    os.write(order["report"], json.dumps(answer).encode())
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
