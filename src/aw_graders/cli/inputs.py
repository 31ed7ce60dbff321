"""Reading what a person points at, with one clear line for everything that can be wrong."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from aw_graders.cli.exits import Exit, stop
from aw_graders.collectors import SourceFile
from aw_graders.flows.evidence import (
    Evidence,
    Observed,
    companions_of,
    observe,
    observe_stream,
    read_evidence,
)
from aw_graders.session import SessionFormatError
from aw_graders.session.limits import MAX_RECORDING_BYTES, MAX_STDIN_BYTES

if TYPE_CHECKING:
    from aw_graders.redaction import KnownValues

STDIN: Final = "<stdin>"
_MIB: Final = 1024 * 1024


def read_path(path: Path, limit: int = MAX_RECORDING_BYTES) -> bytes:
    """Read a whole file, or end with one line."""
    try:
        if path.is_dir():
            stop(Exit.FAILED, f"{path}: is a directory; give a session file")
        if not path.is_file() and not path.is_fifo():
            missing = not path.exists()
            stop(Exit.FAILED, f"{path}: {'does not exist' if missing else 'is no regular file'}")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as failure:
        stop(Exit.FAILED, f"{path}: cannot be read: {failure.strerror or failure}")
    if len(content) > limit:
        hint = "; write it as a unified session in JSON Lines, which has none"
        stop(
            Exit.FAILED,
            f"{path}: is larger than the limit of {limit // _MIB} MiB"
            + (hint if limit == MAX_RECORDING_BYTES else ""),
        )
    return content


def session_files(paths: tuple[Path, ...]) -> tuple[str, list[SourceFile]]:
    """Read the session files, or standard input, and what lies beside a recording."""
    if not paths:
        if sys.stdin is None or sys.stdin.isatty():
            stop(Exit.USAGE, "no session; use --session FILE, or pipe one to standard input")
        content = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
        if len(content) > MAX_STDIN_BYTES:
            stop(
                Exit.FAILED, f"{STDIN}: is larger than {MAX_STDIN_BYTES // _MIB} MiB; use --session"
            )
        return STDIN, [SourceFile("stdin.jsonl", content)]
    files = [
        SourceFile(name, read_path(path))
        for name, path in zip(_source_names(paths), paths, strict=True)
    ]
    known = {os.path.realpath(path) for path in paths}
    for path, file in zip(paths, tuple(files), strict=True):
        files += _companions(path, file, known)
    return str(paths[0]), files


def _source_names(paths: Sequence[Path]) -> list[str]:
    """Name each file by its own name, or by as much of its path as tells it from the others.

    Sources are told apart by these names, and every Copilot session is called `events.jsonl`.
    """
    absolute = [os.path.abspath(path) for path in paths]  # noqa: PTH100 - links are not followed
    if len(set(absolute)) < len(absolute):
        stop(Exit.USAGE, f"{_repeated(absolute, paths)}: is given twice")
    if len({path.name for path in paths}) == len(paths):
        return [path.name for path in paths]
    shared = os.path.commonpath([os.path.dirname(path) for path in absolute])  # noqa: PTH120
    return [Path(os.path.relpath(path, shared)).as_posix() for path in absolute]


def _repeated(absolute: Sequence[str], paths: Sequence[Path]) -> Path:
    return next(path for at, path in enumerate(paths) if absolute[at] in absolute[:at])


def _companions(path: Path, given: SourceFile, known: set[str]) -> list[SourceFile]:
    """Read the files beside a recording that its collector asks for; links are not followed."""
    found: list[SourceFile] = []
    for pattern in companions_of(given.content):
        folder = path.parent
        for part in pattern.split("/")[:-1]:
            folder = folder / part.replace("{stem}", path.stem)
        if folder.is_symlink() or not folder.is_dir():
            continue
        for other in sorted(folder.glob(pattern.split("/")[-1])):
            if other.is_file() and not other.is_symlink() and os.path.realpath(other) not in known:
                known.add(os.path.realpath(other))
                name = PurePosixPath(given.name).parent / other.relative_to(path.parent).as_posix()
                found.append(SourceFile(name.as_posix(), read_path(other)))
    return found


def load_observed(
    paths: tuple[Path, ...],
    *,
    lenient: bool,
    strict: bool,
    whole: bool = False,
    named: "KnownValues | None" = None,
) -> tuple[str, Observed]:
    """Read what a person pointed at as far as grading needs it, or end with one line.

    Takes: `whole`, that some grader looks at the events themselves; `named`, secret values.
    """
    name = str(paths[0]) if paths else STDIN
    try:
        streamed = (
            observe_stream(paths[0], lenient=lenient, named=named)
            if len(paths) == 1 and not whole
            else None
        )
        if streamed is None:
            _, files = session_files(paths)
            if not paths and not whole:
                streamed = observe_stream(files[0].content, lenient=lenient, named=named)
            if streamed is None:
                evidence = read_evidence(files, lenient=lenient, strict=strict)
                return name, observe(evidence, named)
    except SessionFormatError as failure:
        stop(Exit.FAILED, failure.problem.text(name))
    except OSError as failure:
        stop(Exit.FAILED, f"{name}: cannot be read: {failure.strerror or failure}")
    return name, streamed


def load(paths: tuple[Path, ...], *, lenient: bool, strict: bool) -> tuple[str, Evidence]:
    """Read the evidence a person pointed at, or end with one line."""
    name, files = session_files(paths)
    try:
        return name, read_evidence(files, lenient=lenient, strict=strict)
    except SessionFormatError as failure:
        stop(Exit.FAILED, failure.problem.text(name))
