"""Closes this process to other processes of the same user."""

import ctypes
from functools import cache
from typing import Any, Final

_PR_SET_DUMPABLE: Final = 4


@cache
def become_private() -> bool:
    """Keep others of the same user from reading the memory and the environment of this process.

    A child that runs under this process's own user could otherwise find there what it was not
    given. Nothing is written, either, when this process crashes; what it starts is not concerned.

    Returns: whether that is so now, until the process ends; False where the system has no such call.
    Source: PR_SET_DUMPABLE(2const), proc(5).
    """
    try:
        libc: Any = ctypes.CDLL(None)
        return bool(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError, TypeError):
        return False
