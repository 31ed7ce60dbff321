"""Programs that only read and print: nothing is refused, but some uses deserve a warning."""

import re
from collections.abc import Mapping
from typing import Final

from aw_graders.analysis.bash.arguments import Argument, Parsed, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models.builtins import warn_empty_input
from aw_graders.analysis.bash.models.checked import Model
from aw_graders.analysis.bash.report import CHECKOUT_SCAN, LEGACY_REQUEST
from aw_graders.diagnostics import quoted

_JQ: Final = grammar(
    "snrRcCMaSjeL:f:hVbi",
    "slurp null-input raw-output raw-output0 raw-input compact-output color-output"
    " monochrome-output ascii-output sort-keys join-output exit-status from-file: seq stream"
    " stream-errors tab indent: unbuffered arg: argjson: slurpfile: rawfile: args jsonargs"
    " help version binary build-configuration",
)
_TWO_VALUES: Final = frozenset(("--arg", "--argjson", "--slurpfile", "--rawfile"))
# The parts of the request that evaluators once read from standard input.
_LEGACY: Final = re.compile(r"(?<![\w)\]}\"'?.$])\.(?P<part>run|event|outputs)\b(?!\s*:)")
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_INSTEAD: Final = {
    "run": 'select events of the session by .type; the run is in .data of "workflow.info"',
    "event": 'select events of the session by .type, such as "tool.execution_start"',
    "outputs": 'select(.type == "safe_output.result") gives what the run put out',
}
_INPUTS: Final[frozenset[str | None]] = frozenset(("-", "/dev/stdin", "/dev/fd/0"))
_SESSION_HINT: Final = 'read the session alone: "$1"'


def _jq(call: Call) -> None:
    parsed, program = _jq_words(call)
    for text in program:
        match = _LEGACY.search(_STRINGS.sub('""', text.text or ""))
        if match is not None:
            part = match["part"]
            message = f".{part} is a part of the older request, which the session has not"
            call.report.warn(text.node, LEGACY_REQUEST, message, _INSTEAD[part])
    has_file = len(parsed.operands) > (0 if parsed.has("f", "from-file") else 1)
    asks_nothing = parsed.has("n", "null-input", "h", "help", "V", "version", "args", "jsonargs")
    names_input = bool(_INPUTS & {operand.text for operand in parsed.operands[1:]})
    if names_input or (not has_file and not asks_nothing and not parsed.doubtful):
        warn_empty_input(call)


def _jq_words(call: Call) -> tuple[Parsed, list[Argument]]:
    """Give what jq is called with, and its program: `--arg` takes two words."""
    kept: list[Argument] = []
    skip = 0
    for argument in call.arguments:
        if skip:
            skip -= 1
        elif argument.text in _TWO_VALUES:
            skip = 2
        else:
            kept.append(argument)
    parsed = parse(kept, _JQ)
    return parsed, parsed.operands[:1]


def _filter(call: Call) -> None:
    operands = [one for one in call.arguments if not one.head.startswith("-") or one.text == "-"]
    if not operands or _INPUTS & {operand.text for operand in operands}:
        warn_empty_input(call)
    _warn_paths(call, operands)


def _warn_paths(call: Call, operands: list[Argument]) -> None:
    for operand in operands:
        text = operand.text
        if text is not None and ("/" in text or "." in text) and not text.startswith("/dev/"):
            message = f"{quoted(text)} is a file of the checkout, not the session"
            call.report.warn(operand.node, CHECKOUT_SCAN, message, _SESSION_HINT)


def _grep(call: Call) -> None:
    for argument in call.arguments:
        text = argument.text or ""
        is_deep = (
            text.startswith("-") and not text.startswith("--") and bool({"r", "R"} & set(text))
        )
        if is_deep or text in ("--recursive", "--dereference-recursive"):
            message = f"{call.name} searches folders, not the session"
            call.report.warn(argument.node, CHECKOUT_SCAN, message, _SESSION_HINT)
            return


def _lister(call: Call) -> None:
    message = f"{call.name} lists files of the checkout, not the session"
    call.report.warn(call.node, CHECKOUT_SCAN, message, _SESSION_HINT)


READING: Final[Mapping[str, Model]] = {
    **dict.fromkeys(("cat", "head", "tail", "tac", "wc", "nl", "rev"), _filter),
    **dict.fromkeys(("egrep", "fgrep", "grep"), _grep),
    **dict.fromkeys(("dir", "du", "ls", "vdir"), _lister),
    "gojq": _jq,
    "jq": _jq,
}
