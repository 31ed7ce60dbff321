"""Reading what a person points at, with one clear line for everything that can be wrong."""

import sys
from pathlib import Path
from typing import Final

from aw_graders.cli.exits import Exit, stop
from aw_graders.collectors import SourceFile
from aw_graders.flows.evidence import Evidence, companions_of, read_evidence
from aw_graders.session import SessionFormatError
from aw_graders.session.limits import MAX_RECORDING_BYTES, MAX_STDIN_BYTES

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
        stop(Exit.FAILED, f"{path}: is larger than the limit of {limit // _MIB} MiB")
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
    files = [SourceFile(path.name, read_path(path)) for path in paths]
    if len(paths) == 1:
        files += _companions(paths[0], files[0].content)
    return str(paths[0]), files


def _companions(path: Path, content: bytes) -> list[SourceFile]:
    """Read the files beside a recording that its collector asks for; links are not followed."""
    found: list[SourceFile] = []
    for pattern in companions_of(content):
        folder = path.parent
        for part in pattern.split("/")[:-1]:
            folder = folder / part.replace("{stem}", path.stem)
        if folder.is_symlink() or not folder.is_dir():
            continue
        for other in sorted(folder.glob(pattern.split("/")[-1])):
            if other.is_file() and not other.is_symlink():
                name = other.relative_to(path.parent).as_posix()
                found.append(SourceFile(name, read_path(other)))
    return found


def load(paths: tuple[Path, ...], *, lenient: bool, strict: bool) -> tuple[str, Evidence]:
    """Read the evidence a person pointed at, or end with one line."""
    name, files = session_files(paths)
    try:
        return name, read_evidence(files, lenient=lenient, strict=strict)
    except SessionFormatError as failure:
        stop(Exit.FAILED, failure.problem.text(name))
