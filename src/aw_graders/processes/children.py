"""One child process: what it gets, how long and how much it may write, and how it ended."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from aw_graders.processes.fences import Fences, Launched, Report, fenced

_READ_BYTES: Final = 1 << 16
_WRITE_BYTES: Final = 1 << 16
# How long the watcher of a group may take to end it.
_WATCHER_SECONDS: Final = 5.0


class ChildError(Exception):
    """A child process that could not be started; the message names the command."""


class Ended(msgspec.Struct, frozen=True):
    """How a child process ended.

    `status` is the exit status, negative for a signal. After a breach of a limit, which
    `timed_out` and `overflowed` tell, the whole group of the child was killed; `breach` names the
    bound of a watched group that was broken. `was_ready` tells whether a staged child came to its
    second stage; `fences` are those that stood.
    """

    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    overflowed: bool = False
    was_ready: bool = False
    fences: tuple[str, ...] = ()
    breach: str | None = None


class Stage(msgspec.Struct, frozen=True):
    """The second stage of a child that first loads and then works.

    The first stage ends when the child writes `marker` to standard output, as the first thing that
    it writes. Then `ready` is called with the id of its process, `word` is written to its standard
    input, and `seconds` begin, which count for the second stage alone.
    """

    marker: bytes
    word: bytes
    seconds: float
    ready: Callable[[int], None]


def run_child(
    command: Sequence[str | Path],
    *,
    stdin: bytes | Iterable[bytes] = b"",
    seconds: float,
    output_bytes: int,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    fences: Fences | None = None,
    stage: Stage | None = None,
) -> Ended:
    """Run a command to its end, or to a limit.

    Takes: the command, its first part the path of a program; `stdin`, all that it can read there;
        the limits, `output_bytes` of standard output and of standard error each; its whole
        environment, nothing of this process's own; the folder to start in; the fences to put up
        before it starts; the second stage, if it has one.
    Returns: how it ended, with the output up to the limit.
    Raises: ChildError when the program cannot be started.
    """
    parts = [os.fspath(part) for part in command]
    report = None if fences is None else Report()
    try:
        child = subprocess.Popen(  # noqa: S603 - the callers' commands are fixed, without a shell
            parts
            if fences is None or report is None
            else fenced(parts, fences, report, environment or ()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment or {}),
            cwd=folder,
            close_fds=True,
            pass_fds=() if report is None else (report.writing,),
            start_new_session=True,
        )
    except (OSError, ValueError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else str(failure)
        msg = f"{parts[0]} cannot be started: {reason}"
        raise ChildError(msg) from failure
    finally:
        if report is not None:
            report.close_writing()
    with child:
        talk = _Talk(child, stdin, output_bytes, stage)
        try:
            is_late = talk.until(time.monotonic() + seconds)
            if fences is not None and fences.group is not None:
                _let_end(child)
        finally:
            _kill_group(child)
        status = child.wait()
    out, err = talk.outputs
    told = None if report is None else report.read()
    ended = Ended(status, bytes(out), bytes(err), is_late, talk.overflowed, talk.was_ready)
    if told is None:
        return ended
    status = ended.status if told.status is None else told.status
    return msgspec.structs.replace(ended, status=status, fences=_stood(told), breach=told.breach)


def _stood(told: Launched) -> tuple[str, ...]:
    return (*told.fences, "process-namespace") if told.namespace else told.fences


class _Talk:
    """Feeds a child and reads what it writes, without waiting for either."""

    def __init__(
        self,
        child: "subprocess.Popen[bytes]",
        stdin: bytes | Iterable[bytes],
        limit: int,
        stage: Stage | None,
    ) -> None:
        """Take the three pipes of the child."""
        self._child = child
        self._chunks = iter([stdin] if isinstance(stdin, bytes) else stdin)
        self._left = memoryview(b"")
        self._limit = limit
        self._stage = stage
        self._deadline = 0.0
        self.outputs = (bytearray(), bytearray())
        self.overflowed = False
        self.was_ready = False

    def until(self, deadline: float) -> bool:
        """Go on until both outputs are closed and the child ended; True when time ran out."""
        self._deadline = deadline
        with selectors.DefaultSelector() as selector:
            self._register(selector)
            while selector.get_map():
                left = self._deadline - time.monotonic()
                if left <= 0:
                    return True
                for key, _ in selector.select(left):
                    self._serve(selector, key)
                if self.overflowed:
                    return False
        try:
            self._child.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return True
        return False

    def _register(self, selector: selectors.BaseSelector) -> None:
        child = self._child
        assert child.stdin is not None  # noqa: S101 - all three are pipes, as asked for
        assert child.stdout is not None  # noqa: S101
        assert child.stderr is not None  # noqa: S101
        for stream, output in zip((child.stdout, child.stderr), self.outputs, strict=True):
            selector.register(stream, selectors.EVENT_READ, output)
        os.set_blocking(child.stdin.fileno(), False)
        selector.register(child.stdin, selectors.EVENT_WRITE)

    def _serve(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        stream, output = key.fileobj, key.data
        if output is None:
            if self._feed(key.fd):
                selector.unregister(stream)
                if self._stage is None or self.was_ready:
                    stream.close()  # type: ignore[union-attr]
            return
        # One byte over the limit tells that there was more.
        chunk = os.read(key.fd, min(_READ_BYTES, self._limit + 1 - len(output)))
        if not chunk:
            selector.unregister(stream)
            return
        output += chunk
        self._look_for_marker(selector, output)
        if len(output) > self._limit:
            del output[self._limit :]
            self.overflowed = True

    def _look_for_marker(self, selector: selectors.BaseSelector, output: bytearray) -> None:
        """Begin the second stage when the child says that it is ready."""
        stage, stdin = self._stage, self._child.stdin
        if stage is None or stdin is None or self.was_ready or output is not self.outputs[0]:
            return
        if output.startswith(stage.marker):
            del output[: len(stage.marker)]
            self.was_ready = True
            stage.ready(self._child.pid)
            self._chunks = iter([stage.word])
            if stdin.fileno() not in selector.get_map():
                selector.register(stdin, selectors.EVENT_WRITE)
            self._deadline = time.monotonic() + stage.seconds

    def _feed(self, descriptor: int) -> bool:
        """Write some of the input; True when there is no more, or nobody who reads it."""
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                return True
            self._left = memoryview(chunk)
        try:
            written = os.write(descriptor, self._left[:_WRITE_BYTES])
        except BlockingIOError:
            return False
        except BrokenPipeError:
            return True
        self._left = self._left[written:]
        return False


def _let_end(child: "subprocess.Popen[bytes]") -> None:
    """Ask the watcher of a group to end all of it, also what left the group of the process."""
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_WATCHER_SECONDS)


def _kill_group(child: "subprocess.Popen[bytes]") -> None:
    """End everything that the child may have left running in its group."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        child.kill()
