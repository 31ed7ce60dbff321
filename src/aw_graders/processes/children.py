"""One child process: what it gets, how long and how much it may write, and how it ended."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

_READ_BYTES: Final = 1 << 16
_WRITE_BYTES: Final = 1 << 16


class ChildError(Exception):
    """A child process that could not be started; the message names the command."""


class Ended(msgspec.Struct, frozen=True):
    """How a child process ended.

    `status` is the exit status, negative for a signal. After a breach of a limit, which
    `timed_out` and `overflowed` tell, the whole group of the child was killed.
    """

    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    overflowed: bool = False


def run_child(
    command: Sequence[str | Path],
    *,
    stdin: bytes = b"",
    seconds: float,
    output_bytes: int,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Ended:
    """Run a command to its end, or to a limit.

    Takes: the command, its first part the path of a program; `stdin`, all that it can read there;
        the limits, `output_bytes` of standard output and of standard error each; its whole
        environment, nothing of this process's own; the folder to start in.
    Returns: how it ended, with the output up to the limit.
    Raises: ChildError when the program cannot be started.
    """
    try:
        child = subprocess.Popen(  # noqa: S603 - the callers' commands are fixed, without a shell
            [os.fspath(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment or {}),
            cwd=folder,
            close_fds=True,
            start_new_session=True,
        )
    except (OSError, ValueError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else str(failure)
        msg = f"{os.fspath(command[0])} cannot be started: {reason}"
        raise ChildError(msg) from failure
    with child:
        talk = _Talk(child, stdin, output_bytes)
        try:
            is_late = talk.until(time.monotonic() + seconds)
        finally:
            _kill_group(child)
        status = child.wait()
    out, err = talk.outputs
    return Ended(status, bytes(out), bytes(err), is_late, talk.overflowed)


class _Talk:
    """Feeds a child and reads what it writes, without waiting for either."""

    def __init__(self, child: "subprocess.Popen[bytes]", stdin: bytes, limit: int) -> None:
        """Take the three pipes of the child."""
        self._child = child
        self._left = memoryview(stdin)
        self._limit = limit
        self.outputs = (bytearray(), bytearray())
        self.overflowed = False

    def until(self, deadline: float) -> bool:
        """Go on until both outputs are closed and the child ended; True when time ran out."""
        with selectors.DefaultSelector() as selector:
            self._register(selector)
            while selector.get_map():
                left = deadline - time.monotonic()
                if left <= 0:
                    return True
                for key, _ in selector.select(left):
                    self._serve(selector, key)
                if self.overflowed:
                    return False
        try:
            self._child.wait(max(0.0, deadline - time.monotonic()))
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
        if self._left:
            os.set_blocking(child.stdin.fileno(), False)
            selector.register(child.stdin, selectors.EVENT_WRITE)
        else:
            child.stdin.close()

    def _serve(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        stream, output = key.fileobj, key.data
        if output is None:
            if self._feed(key.fd):
                selector.unregister(stream)
                stream.close()  # type: ignore[union-attr]
            return
        # One byte over the limit tells that there was more.
        chunk = os.read(key.fd, min(_READ_BYTES, self._limit + 1 - len(output)))
        if not chunk:
            selector.unregister(stream)
            return
        output += chunk
        if len(output) > self._limit:
            del output[self._limit :]
            self.overflowed = True

    def _feed(self, descriptor: int) -> bool:
        """Write some of the input; True when there is no more, or nobody who reads it."""
        try:
            written = os.write(descriptor, self._left[:_WRITE_BYTES])
        except BlockingIOError:
            return False
        except BrokenPipeError:
            return True
        self._left = self._left[written:]
        return not self._left


def _kill_group(child: "subprocess.Popen[bytes]") -> None:
    """End everything that the child may have left running in its group."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        child.kill()
