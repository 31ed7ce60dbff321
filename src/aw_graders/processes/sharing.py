"""Numbered tasks shared with a copy of this process, which sends back what it found.

Both take the next task from one queue, so that the quicker one does more.
"""

import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

_TASK: Final = struct.Struct("<I")
# What a pipe surely holds without a reader, on every system that forks.
_PIPE_BYTES: Final = 4096
MAX_SHARED_TASKS: Final = _PIPE_BYTES // _TASK.size
_READ_BYTES: Final = 1 << 20

Work: TypeAlias = Callable[[Iterator[int]], bytes]


def can_share() -> bool:
    """Tell whether a copy of this process would run beside it, and may be made safely."""
    if not hasattr(os, "fork") or threading.active_count() != 1:
        return False
    affinity = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity is not None else os.cpu_count() or 1) > 1


def share(count: int, work: Work, mine: Callable[[Iterator[int]], None]) -> bytes | None:
    """Do tasks 0 to `count` - 1, the later half of them in a copy of this process.

    Whoever is done first takes over what the other has not begun, so that the quicker one does more
    and both mostly do tasks that follow each other.

    Takes: `work`, run in the copy, whose bytes are sent back; `mine`, run here. Both get an iterator
        over the tasks they are given; `count` is at most `MAX_SHARED_TASKS`.
    Returns: the copy's bytes, or None when it ended in any other way than by finishing its work; the
        tasks it had taken are then not done.
    Raises: whatever `mine` raises, after the copy has ended; OSError when no process can be made.
    """
    first, second = _queue(range(count // 2)), _queue(range(count // 2, count))
    answer, reply = os.pipe()
    try:
        child = os.fork()
        if child == 0:
            _run_copy(_tasks(second, first), reply, work)
        os.close(reply)
        try:
            mine(_tasks(first, second))
        finally:
            # When `mine` fails, the copy shall find nothing more to do.
            for queue in (first, second):
                os.read(queue, _PIPE_BYTES)
            found = _collect(answer, child)
        return found
    finally:
        for descriptor in (first, second, answer):
            os.close(descriptor)


def _queue(tasks: range) -> int:
    """Make a queue from which several processes can take."""
    queue, feed = os.pipe()
    os.write(feed, b"".join(map(_TASK.pack, tasks)))
    os.close(feed)
    return queue


def _tasks(*queues: int) -> Iterator[int]:
    for queue in queues:
        while len(taken := os.read(queue, _TASK.size)) == _TASK.size:
            yield _TASK.unpack(taken)[0]


def _run_copy(tasks: Iterator[int], reply: int, work: Work) -> None:
    """Work in the copy and end it, without running anything that belongs to the original."""
    status = 1
    try:
        found = memoryview(work(tasks))
        while found:
            found = found[os.write(reply, found) :]
        status = 0
    finally:
        os._exit(status)


def _collect(answer: int, child: int) -> bytes | None:
    """Read all that the copy sends and wait for its end."""
    parts: list[bytes] = []
    while part := os.read(answer, _READ_BYTES):
        parts.append(part)
    _, status = os.waitpid(child, 0)
    return b"".join(parts) if status == 0 else None
