"""awk and sed: their programs are read as far as they decide what is written."""

from collections.abc import Callable, Mapping
from typing import Final

from aw_graders.analysis.bash import awk, sed
from aw_graders.analysis.bash.arguments import Argument, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models.checked import (
    RUNS,
    WRITES,
    Model,
    dashed,
    refuse_doubts,
    refuse_option,
)
from aw_graders.analysis.bash.report import PRINT_INSTEAD
from aw_graders.analysis.bash.tree import Node

_SED: Final = grammar(
    "bEe:f:i::l:nrsuz",
    "debug expression: file: follow-symlinks in-place:: line-length: null-data posix quiet"
    " regexp-extended sandbox separate silent unbuffered zero-terminated binary help version",
)
_AWK: Final = grammar(
    "F:v:f:bcCe:E:d::D::gi:Il:L::kMnNo::Op::PrsStVhW:",
    "field-separator: assign: file: characters-as-bytes traditional copyright source: exec:"
    " dump-variables:: debug:: gen-pot include: trace load: lint:: csv bignum"
    " use-lc-numeric non-decimal-data pretty-print:: optimize profile:: posix re-interval"
    " no-optimize sandbox lint-old version help",
    stops=True,
)
_AWK_REFUSED: Final = {
    "f": RUNS,
    "file": RUNS,
    "E": RUNS,
    "exec": RUNS,
    "i": RUNS,
    "include": RUNS,
    "l": RUNS,
    "load": RUNS,
    "D": RUNS,
    "debug": RUNS,
    "W": RUNS,
    "d": WRITES,
    "dump-variables": WRITES,
    "o": WRITES,
    "pretty-print": WRITES,
    "p": WRITES,
    "profile": WRITES,
}
_SED_REFUSED: Final = {"f": RUNS, "file": RUNS, "i": WRITES, "in-place": WRITES}
_INPUTS_HINT: Final = "write the program in single quotes, and hand values in with -v or --arg"


def _sed(call: Call) -> None:
    parsed = parse(call.arguments, _SED)
    refuse_doubts(call, parsed)
    for option in parsed.options:
        if option.name in _SED_REFUSED:
            refuse_option(call, option.node, dashed(option.name), _SED_REFUSED[option.name])
    programs = list(parsed.values("e", "expression"))
    if not programs and not parsed.has("help", "version", "f", "file"):
        programs = parsed.operands[:1]
    _check(call, programs, sed.find_dangers, "\n")


def _awk(call: Call) -> None:
    parsed = parse(call.arguments, _AWK)
    refuse_doubts(call, parsed)
    for option in parsed.options:
        if option.name in _AWK_REFUSED:
            refuse_option(call, option.node, dashed(option.name), _AWK_REFUSED[option.name])
    programs = list(parsed.values("e", "source"))
    if not programs and not parsed.has("help", "version", "V", "f", "file", "E", "exec"):
        programs = parsed.operands[:1]
    _check(call, programs, awk.find_dangers, "\n")


def _check(
    call: Call,
    programs: list[Argument],
    find: Callable[[str, frozenset[str]], list[awk.Danger]],
    joint: str,
) -> None:
    """Judge the pieces of a program as one."""
    texts: list[str] = []
    for program in programs:
        text = program.filled if program.text is None else program.text
        if text is None:
            message = f"the program of {call.name} is known only when the script runs"
            call.report.dynamic(program.node, message, _INPUTS_HINT)
            return
        texts.append(text)
    for danger in find(joint.join(texts), call.context.sinks):
        _refuse(call, programs[0].node, danger)


def _refuse(call: Call, node: Node, danger: awk.Danger) -> None:
    if danger.is_write:
        call.report.write(node, danger.what, PRINT_INSTEAD)
    else:
        call.report.dynamic(node, danger.what, PRINT_INSTEAD)


TEXT_PROGRAMS: Final[Mapping[str, Model]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), _awk),
    **dict.fromkeys(("gsed", "sed"), _sed),
}
