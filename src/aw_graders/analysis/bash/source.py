"""What the bytes of an evaluator must be before anybody parses them."""

import re
from typing import Final

from aw_graders.analysis.model import Finding
from aw_graders.diagnostics import quoted

MAX_EVALUATOR_BYTES: Final = 65_536

CONFIGURATION: Final = "configuration"
TOO_LARGE: Final = "grader-shell-too-large"
NOT_UTF8: Final = "grader-shell-not-utf8"
SHEBANG: Final = "grader-shell-shebang"

_GOOD_SHEBANG: Final = re.compile(rb"#!(?:/usr/bin/env bash|(?:/[^\s/]+)*/bash)")
_ASKED: Final = 'the first line must be "#!/usr/bin/env bash", or "#!" and the path of Bash'
_ENV_FORM: Final = 'write "#!/usr/bin/env bash" as the first line'


def check_evaluator_bytes(source: bytes) -> tuple[Finding, ...]:
    """Check size, encoding and first line of an evaluator.

    Returns: findings of rule `configuration`, in the order of their places; none when all is well.
    Raises: nothing.
    """
    return (*unreadable(source), *_shebang(source))


def unreadable(source: bytes) -> tuple[Finding, ...]:
    """Give the faults because of which a script is not parsed at all."""
    if len(source) > MAX_EVALUATOR_BYTES:
        message = f"the evaluator has {len(source):,} bytes; {MAX_EVALUATOR_BYTES:,} are allowed"
        hint = "move tables and long texts out of the script, or compute less"
        return (Finding(1, 1, 1, CONFIGURATION, TOO_LARGE, message, hint),)
    at, what = _first_bad_byte(source)
    if at < 0:
        return ()
    before = source[:at]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    message = f"{what} 0x{source[at]:02x} at offset {at} is not part of UTF-8 text"
    hint = "save the file as UTF-8; write bytes in Bash as $'\\xNN'"
    return (Finding(line, column, 1, CONFIGURATION, NOT_UTF8, message, hint),)


def _first_bad_byte(source: bytes) -> tuple[int, str]:
    """Find a byte that a Bash script cannot hold; -1 when there is none."""
    zero = source.find(b"\0")
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as failure:
        if zero < 0 or failure.start < zero:
            return failure.start, "byte"
    # Bash drops NUL bytes without a word; what it then runs is not what was read.
    return zero, "NUL byte"


def _shebang(source: bytes) -> tuple[Finding, ...]:
    first, newline, _ = source.partition(b"\n")
    if _GOOD_SHEBANG.fullmatch(first) and newline:
        return ()
    message, hint = _explain(first, has_newline=bool(newline))
    length = max(1, len(first.decode("utf-8", "replace")))
    return (Finding(1, 1, length, CONFIGURATION, SHEBANG, message, hint),)


def _explain(first: bytes, *, has_newline: bool) -> tuple[str, str]:
    if first.endswith(b"\r") and _GOOD_SHEBANG.fullmatch(first[:-1]):
        message = "the first line ends with a carriage return and a line feed"
        return message, "save the file with line feeds alone (LF, not CRLF)"
    if _GOOD_SHEBANG.fullmatch(first) and not has_newline:
        return "the first line has no line feed at its end", "end the first line with a line feed"
    if first.startswith(b"\xef\xbb\xbf"):
        return "the file begins with a byte order mark", "save the file as UTF-8 without a mark"
    if not first.startswith(b"#!"):
        return f"the evaluator has no Bash shebang; {_ASKED}", _ENV_FORM
    shown = quoted(first[:200].decode("utf-8", "replace"))
    message = f"the first line is {shown}; {_ASKED}, without arguments"
    hint = f"{_ENV_FORM}; use set for options" if b"bash " in first else _ENV_FORM
    return message, hint
