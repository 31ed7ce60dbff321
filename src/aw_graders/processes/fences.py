"""What the operating system is asked to close before a child starts, and what it then closed."""

import json
import os
import sys
from collections.abc import Sequence
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


class Fences(msgspec.Struct, frozen=True):
    """What is asked for: names, files that stay readable, and a bound on allocated memory.

    `data_bytes` counts what RLIMIT_DATA counts: heap, stacks of threads and private mappings.
    """

    names: tuple[FenceName, ...] = ALL_FENCES
    readable: tuple[str, ...] = ()
    data_bytes: int | None = None


class Report:
    """The pipe through which the launcher says which fences stood."""

    def __init__(self) -> None:
        """Open it; the writing end is for the launcher alone."""
        self._reading, self.writing = os.pipe()

    def close_writing(self) -> None:
        """Close this process's copy of the writing end, once the launcher has its own."""
        os.close(self.writing)

    def read(self) -> tuple[str, ...] | None:
        """Return the names of the fences that stood, None when the launcher never came so far."""
        text = os.read(self._reading, _REPORT_BYTES)
        os.close(self._reading)
        return tuple(json.loads(text)["fences"]) if text else None


def fenced(command: Sequence[str], fences: Fences, report: Report) -> list[str]:
    """Return the command that puts the fences up and then becomes `command`."""
    order = {
        "report": report.writing,
        "fences": fences.names,
        "readable": [*_READABLE, *fences.readable],
        "executable": [command[0], *_LIBRARIES],
        "data_bytes": fences.data_bytes,
    }
    return [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(order), *command]
