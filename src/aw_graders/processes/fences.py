"""What the operating system is asked to close before a child starts, and what it then closed."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

FenceName: TypeAlias = Literal["no-new-privileges", "network-namespace", "landlock", "seccomp"]

ALL_FENCES: Final[tuple[FenceName, ...]] = (
    "no-new-privileges",
    "network-namespace",
    "landlock",
    "seccomp",
)
# The user and the group that own nothing, by the number that Linux has for them.
NOBODY: Final = 65_534
_LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_REPORT_BYTES: Final = 4096
# What any program needs that is linked against shared libraries.
_LIBRARIES: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_READABLE: Final = (
    "/dev/urandom",
    "/etc/ld.so.cache",
    "/etc/ssl/openssl.cnf",
    "/proc/meminfo",
    "/proc/self",
)


class Group(msgspec.Struct, frozen=True):
    """Bounds for a program together with everything that it starts.

    `user` is the number of the user under which it runs when this process is root's.
    """

    processes: int
    resident_bytes: int
    user: int = NOBODY


class Fences(msgspec.Struct, frozen=True):
    """What is asked for: names, files that stay readable, and a bound on allocated memory.

    `data_bytes` counts what RLIMIT_DATA counts: heap, stacks of threads and private mappings. With
    a `group`, a process stays beside the program, and nothing that it starts outlives it.
    """

    names: tuple[FenceName, ...] = ALL_FENCES
    readable: tuple[str, ...] = ()
    data_bytes: int | None = None
    group: Group | None = None


class Launched(msgspec.Struct, frozen=True):
    """What the launcher reported: fences that stood, and of a group how it ended.

    `status` is that of the program, negative for a signal; `breach` names the bound that was
    broken; `namespace` tells whether the group had process numbers of its own.
    """

    fences: tuple[str, ...]
    status: int | None = None
    breach: Literal["processes", "memory"] | None = None
    namespace: bool = False


class Report:
    """The pipe through which the launcher says which fences stood."""

    def __init__(self) -> None:
        """Open it; the writing end is for the launcher alone."""
        self._reading, self.writing = os.pipe()

    def close_writing(self) -> None:
        """Close this process's copy of the writing end, once the launcher has its own."""
        os.close(self.writing)

    def read(self) -> Launched | None:
        """Return what the launcher reported, None when it never came so far."""
        text = os.read(self._reading, _REPORT_BYTES)
        os.close(self._reading)
        return msgspec.json.decode(text, type=Launched) if text else None


def fenced(
    command: Sequence[str], fences: Fences, report: Report, names: Iterable[str] = ()
) -> list[str]:
    """Return the command that puts the fences up and then becomes `command`.

    `names` are the variables of its environment: a launcher in Python may find more, which it adds
    itself when no language is set.
    """
    order = {
        "report": report.writing,
        "environment": [*names],
        "fences": fences.names,
        "readable": [*_READABLE, *fences.readable],
        "executable": [command[0], *_LIBRARIES],
        "data_bytes": fences.data_bytes,
        "group": None if fences.group is None else msgspec.structs.asdict(fences.group),
    }
    return [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(order), *command]
