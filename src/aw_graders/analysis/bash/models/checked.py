"""Models for programs that are harmless but for some of their options or operands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aw_graders.analysis.bash.arguments import Argument, Grammar, Parsed, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.descriptors import is_sink
from aw_graders.analysis.bash.report import PRINT_INSTEAD
from aw_graders.analysis.bash.tree import Node
from aw_graders.diagnostics import quoted

Model: TypeAlias = Callable[[Call], None]
Operands: TypeAlias = Callable[[Call, Parsed], None]

WRITES: Final = "writes a file"
RUNS: Final = "runs another program"

_DASHES_HINT: Final = 'put the options in the script and "--" before the operands'


@dataclass(frozen=True, slots=True)
class Checked:
    """A program whose options are all known.

    `writes` are options whose value is a file that it writes; `refused` says of options why they
    are not allowed at all; `operands` judges the rest.
    """

    grammar: Grammar
    writes: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    operands: Operands | None = None

    def __call__(self, call: Call) -> None:
        """Judge one call of the program."""
        parsed = parse(call.arguments, self.grammar)
        refuse_doubts(call, parsed)
        for option in parsed.options:
            name = dashed(option.name)
            if option.name in self.refused:
                refuse_option(call, option.node, name, self.refused[option.name])
            elif option.name in self.writes:
                check_written(call, option.value, f"option {name} of {call.name}")
        if self.operands is not None:
            self.operands(call, parsed)


def refuse_doubts(call: Call, parsed: Parsed) -> None:
    """Refuse options that nobody can see, or that the tables do not list."""
    for argument in parsed.doubtful:
        message = f"an option of {call.name} may hide in this word"
        call.report.dynamic(argument.node, message, _DASHES_HINT)
    for option in parsed.unknown:
        message = f"option {quoted(dashed(option.name))} of {call.name} is not known to be harmless"
        call.report.dynamic(option.node, message, "leave the option out")


def refuse_option(call: Call, node: Node, name: str, why: str) -> None:
    """Refuse an option that writes or runs something."""
    message = f"option {name} of {call.name} {why}"
    if why == WRITES:
        call.report.write(node, message)
    else:
        call.report.dynamic(node, message, PRINT_INSTEAD)


def check_written(call: Call, target: Argument | None, what: str) -> None:
    """Refuse a file that is written, unless it is a permitted device."""
    if (
        target is None
        or target.text in call.context.sinks
        or is_sink(target.node, call.context.sinks)
    ):
        return
    if target.text is None:
        message = f"what {what} writes to is known only when the script runs"
        call.report.dynamic(target.node, message, PRINT_INSTEAD)
    else:
        call.report.write(target.node, f"{what} writes to {quoted(target.text)}")


def dashed(name: str) -> str:
    """Give an option as it is written."""
    return f"-{name}" if len(name) == 1 else f"--{name}"


def no_operands(call: Call, parsed: Parsed) -> None:
    """Refuse any operand."""
    for operand in parsed.operands:
        call.report.write(operand.node, f"an operand of {call.name} changes the system")


def all_written(call: Call, parsed: Parsed) -> None:
    """Take every operand for a file that is written."""
    for operand in parsed.operands:
        check_written(call, operand, call.name)


def second_written(call: Call, parsed: Parsed) -> None:
    """Take every operand but the first for a file that is written."""
    for at, operand in enumerate(parsed.operands):
        if at > 0:
            check_written(call, operand, f"the second operand of {call.name}")
        elif not operand.is_single:
            message = f"this may be more than one operand of {call.name}, and the second is written"
            call.report.dynamic(operand.node, message, 'quote it: "$1"')


_SORT: Final = Checked(
    grammar(
        "bdfghiMnRrVcCmsuzk:t:o:S:T:",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort"
        " ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort"
        " random-source: reverse sort: version-sort batch-size: check:: compress-program: debug"
        " files0-from: key: merge output: stable buffer-size: field-separator:"
        " temporary-directory: parallel: unique zero-terminated help version",
    ),
    writes=frozenset(("o", "output")),
    refused={"compress-program": RUNS, "T": WRITES, "temporary-directory": WRITES},
)

CHECKED: Final[Mapping[str, Model]] = {
    "sort": _SORT,
    "uniq": Checked(
        grammar(
            "cdDf:iuw:s:z0123456789",
            "count repeated all-repeated:: skip-fields: group:: ignore-case unique"
            " zero-terminated check-chars: skip-chars: help version",
        ),
        operands=second_written,
    ),
    "tee": Checked(
        grammar("aip", "append ignore-interrupts output-error:: help version"),
        operands=all_written,
    ),
    "shuf": Checked(
        grammar(
            "ei:n:o:rz",
            "echo input-range: head-count: output: random-source: repeat zero-terminated"
            " help version",
        ),
        writes=frozenset(("o", "output")),
    ),
    "iconv": Checked(
        grammar(
            "f:t:lco:s",
            "from-code: to-code: list output: silent verbose byte-subst: widechar-subst:"
            " unicode-subst: help usage version",
        ),
        writes=frozenset(("o", "output")),
    ),
    "file": Checked(
        grammar(
            "bcCdEf:F:hiklLm:nNpP:rsSvzZ0e:",
            "brief mime mime-type mime-encoding compile files-from: separator: dereference"
            " no-dereference magic-file: raw special-files uncompress print0 keep-going"
            " exclude: exclude-quiet: extension help version no-pad",
        ),
        refused={"C": WRITES, "compile": WRITES},
    ),
    "hostname": Checked(
        grammar(
            "aAdfiIsyV",
            "alias all-fqdns domain fqdn long ip-address all-ip-addresses short yp nis help"
            " version",
        ),
        operands=no_operands,
    ),
    "tree": Checked(
        grammar(
            "adfilxL:P:I:pugshDFqNQrtcUvAnCSJXo:",
            "noreport dirsfirst charset: filelimit: si du timefmt: prune matchdirs inodes"
            " device sort: help version gitignore",
        ),
        writes=frozenset("o"),
    ),
}
