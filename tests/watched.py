"""Runs a script in a folder that is compared before and after, with no rights beyond it."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, Self

BASH: Final = shutil.which("bash")
PATH: Final = "/usr/local/bin:/usr/bin:/bin"
HAS_JQ: Final = shutil.which("jq", path=PATH) is not None

_NOBODY: Final = 65534
_SECONDS: Final = 10.0
# The clock of a file system ticks slowly: only against an old date does every change show.
_OLD_NS: Final = 1_000_000_000 * 10**9
# Processor seconds, kilobytes of a file, processes, and no file for a crash.
_LIMITED: Final = """for limit in '-t 10' '-f 8192' '-u 1024' '-c 0'; do
  ulimit $limit 2>/dev/null
done
exec "$0" --noprofile --norc "$@"
"""
_SESSION: Final = "session.jsonl"
# What a hostile script may find in a checkout: text, a tool of its own, and one with a known name.
_PROGRAM: Final = b"#!/bin/bash\n: >owned\n"
_FILES: Final[Mapping[str, tuple[bytes, int]]] = {
    "data.txt": (b"one\ntwo\ntwo\nthree\n", 0o644),
    "code.txt": (b"touch owned\n", 0o644),
    "tool": (_PROGRAM, 0o755),
    "bin/jq": (_PROGRAM, 0o755),
    "10/jq": (_PROGRAM, 0o755),
}
_EVENTS: Final = b"""\
{"type":"session.format","data":{"version":1},"provenance":{"component":"collector","phase":"conclusion","path":"usage/aw_session.jsonl","index":0}}
{"type":"session.start","data":{"engine":"claude","model":"example-large"},"provenance":{"component":"agent","phase":"agent","path":"agent-session.jsonl","index":0}}
{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","input":{"command":"touch owned"}},"timestamp":"2026-03-02T14:00:00.000Z","provenance":{"component":"agent","phase":"agent","path":"agent-session.jsonl","index":1}}
{"type":"tool.execution_complete","data":{"toolCallId":"1","toolName":"bash","success":true,"tokens":12},"timestamp":"2026-03-02T14:00:02.500Z","provenance":{"component":"agent","phase":"agent","path":"agent-session.jsonl","index":2}}
{"type":"tool.execution_start","data":{"toolCallId":"2","toolName":"view","input":{"path":"a b.py"}},"timestamp":"2026-03-02T14:00:03.000Z","provenance":{"component":"agent","phase":"agent","path":"agent-session.jsonl","index":3}}
{"type":"tool.execution_complete","data":{"toolCallId":"2","toolName":"view","success":false,"tokens":30},"timestamp":"2026-03-02T14:00:04.000Z","provenance":{"component":"agent","phase":"agent","path":"agent-session.jsonl","index":4}}
{"type":"assistant.message","data":{"text":"done; $(touch owned) `touch owned`","tokens":7},"timestamp":"2026-03-02T14:00:05.000Z","provenance":{"component":"agent","phase":"agent","path":"agent-session.jsonl","index":5}}
{"type":"safe_output.result","data":{"kind":"add_comment","success":true,"url":"https://example.com/1"},"timestamp":"2026-03-02T14:00:06.000Z","provenance":{"component":"safe_outputs","phase":"conclusion","path":"outputs.jsonl","index":0}}
"""

_State = dict[str, tuple[int, int, bytes]]


class Watched(NamedTuple):
    """What a script left behind: the names of what changed, and what it said.

    `status` is None when it ran out of time.
    """

    changes: tuple[str, ...]
    status: int | None
    stdout: bytes
    stderr: bytes


class WatchedFolder:
    """A folder in which scripts run one after the other, renewed when one changed it.

    Use as a context manager. Cost: about 5 ms for a script that starts nothing.
    """

    def __init__(self) -> None:
        """Make nothing yet."""
        self._outer = Path()
        self._before: _State = {}

    def __enter__(self) -> Self:
        """Make the folder."""
        self._outer = Path(tempfile.mkdtemp(prefix="watched-"))
        self._outer.chmod(0o711)
        self._renew()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        _remove(self._outer)

    def run(self, source: str | bytes) -> Watched:
        """Run a script to its end, with the session as its operand and nothing to read.

        Background children that hold the output are waited for; then the group is killed.
        """
        script = self._outer / "evaluator.sh"
        script.write_bytes(source.encode() if isinstance(source, str) else source)
        status, stdout, stderr = _run(script, self._work)
        after = _state(self._work)
        names = sorted({*self._before, *after})
        changes = tuple(name for name in names if self._before.get(name) != after.get(name))
        if changes:
            self._renew()
        return Watched(changes, status, stdout, stderr)

    @property
    def _work(self) -> Path:
        return self._outer / "work"

    def _renew(self) -> None:
        _remove(self._work)
        self._work.mkdir(mode=0o755)
        for name, (content, mode) in {**_FILES, _SESSION: (_EVENTS, 0o644)}.items():
            path = self._work / name
            path.parent.mkdir(mode=0o755, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode)
        for path in (*self._work.rglob("*"), self._work):
            if os.geteuid() == 0:
                os.chown(path, _NOBODY, _NOBODY)
            os.utime(path, ns=(_OLD_NS, _OLD_NS))
        self._before = _state(self._work)


def _run(script: Path, work: Path) -> tuple[int | None, bytes, bytes]:
    session = str(work / _SESSION)
    is_root = os.geteuid() == 0
    process = subprocess.Popen(
        [_bash(), "--noprofile", "--norc", "-c", _LIMITED, _bash(), str(script), session],
        cwd=work,
        env={
            "PATH": PATH,
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(work),
            "TMPDIR": str(work),
            "GH_AW_SESSION_FILE": session,
            "GH_AW_GRADER_CONFIG": '{"limit":3,"tools":["bash","view"]}',
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        user=_NOBODY if is_root else None,
        group=_NOBODY if is_root else None,
        extra_groups=() if is_root else None,
    )
    if is_root:
        # Else /dev/stdout and /dev/stderr could not be opened.
        for pipe in filter(None, (process.stdout, process.stderr)):
            os.fchown(pipe.fileno(), _NOBODY, _NOBODY)
    status: int | None
    try:
        stdout, stderr = process.communicate(timeout=_SECONDS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        status = None
        stdout = stderr = b""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if status is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            stdout, stderr = process.communicate(timeout=1)
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()
        process.wait()
    return status, stdout, stderr


def _bash() -> str:
    return BASH or "bash"


def _state(folder: Path) -> _State:
    """Read kind, rights, time and content of everything in a folder, and of the folder itself."""
    found: _State = {".": (*_facts(os.lstat(folder)), b"")}
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(root, name)
            facts = os.lstat(path)
            is_file = os.path.isfile(path) and not os.path.islink(path)
            with contextlib.suppress(PermissionError):
                content = Path(path).read_bytes() if is_file else b""
                found[os.path.relpath(path, folder)] = (*_facts(facts), content)
    return found


def _facts(status: os.stat_result) -> tuple[int, int]:
    return status.st_mode, status.st_mtime_ns


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
