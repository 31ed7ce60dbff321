"""Starts the Bash parser, and tells a script that cannot be read from a parser that does not work."""

import re
import sys
import sysconfig
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from aw_graders.analysis.bash.tree import Node, TooDeepError, UnknownSyntaxError, build
from aw_graders.analysis.model import ParserMissingError
from aw_graders.diagnostics import quoted
from aw_graders.processes.children import ChildError, Ended, run_child

# Short of what a script of the largest allowed size can be blown up to by writing it badly.
_OUTPUT_BYTES: Final = 24 << 20
_SECONDS: Final = 10.0
# Levels of JSON: about 45 substitutions within each other, or 180 commands joined by `&&`.
_MAX_LEVELS: Final = 400
_PLACE: Final = re.compile(r"(?:.*?:)?(?P<line>\d+):(?P<column>\d+|\?): (?P<text>.+)")
_NAME: Final = "shfmt"
_TRIVIAL: Final = b":\n"


class SyntaxFaultError(Exception):
    """A script that is not Bash; `line` and `column` (in bytes) count from 1."""

    def __init__(self, line: int, column: int, text: str) -> None:
        """Keep the place and the words of the parser."""
        super().__init__(text)
        self.line = line
        self.column = column
        self.text = text


class TooComplexError(Exception):
    """A script that is nested too deep, or too long to be read in the time allowed."""


def parse(source: bytes) -> Node:
    """Read a script.

    Returns: the root of its syntax tree.
    Raises: SyntaxFaultError, TooComplexError; UnknownSyntaxError for a construct that this package
        does not know; ParserMissingError when the parser does not work.
    """
    try:
        ended = _run(source)
    except ChildError as failure:
        _missing(str(failure))
    if ended.overflowed:
        msg = "its syntax tree is too large"
        raise TooComplexError(msg)
    if ended.status != 0:
        _explain(ended)
    return _tree(ended.stdout)


def check_parser() -> None:
    """Raise ParserMissingError when the parser cannot read the shortest script."""
    try:
        ended = _run(_TRIVIAL)
    except ChildError as failure:
        _missing(str(failure))
    if ended.status != 0 or ended.timed_out:
        _missing(f"it ended with status {ended.status} on a script of one command")
    try:
        root = _tree(ended.stdout)
    except (TooComplexError, UnknownSyntaxError) as failure:
        _missing(str(failure))
    if root.kind != "File" or len(root.nodes("Stmts")) != 1:
        _missing("what it printed for a script of one command is no syntax tree")


def _explain(ended: Ended) -> None:
    """Raise what a run without a tree means."""
    for line in ended.stderr.decode("utf-8", "replace").splitlines():
        match = _PLACE.fullmatch(line)
        if match is not None and not ended.timed_out:
            column = int(match["column"]) if match["column"].isdigit() else 1
            raise SyntaxFaultError(int(match["line"]), column, match["text"])
    check_parser()
    msg = "the parser ran out of time" if ended.timed_out else "the parser gave up"
    raise TooComplexError(msg)


def _tree(output: bytes) -> Node:
    # The output is indented by one tab per level, and a text in JSON holds no line break.
    if b"\n" + b"\t" * _MAX_LEVELS in output:
        msg = "its constructs are nested too deep"
        raise TooComplexError(msg)
    try:
        return build(msgspec.json.decode(output))
    except msgspec.DecodeError as failure:
        _missing(f"what it printed is no JSON: {failure}")
    except (TooDeepError, RecursionError) as failure:
        msg = "its constructs are nested too deep"
        raise TooComplexError(msg) from failure


def _run(source: bytes) -> Ended:
    return run_child(
        [_program(), "-ln", "bash", "--to-json"],
        stdin=source,
        seconds=_SECONDS,
        output_bytes=_OUTPUT_BYTES,
    )


def _program() -> Path:
    """Find the parser where the packages of this Python put their programs, nowhere else."""
    folders = (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent)
    found = next((path for folder in folders if (path := folder / _NAME).is_file()), None)
    return found or _missing(f"it is not in {quoted(str(folders[0]))}")


def _missing(reason: str) -> NoReturn:
    msg = f"the Bash parser shfmt does not work: {reason}; install it with: pip install shfmt-py"
    raise ParserMissingError(msg)
