"""Programs that start the command behind their own options."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aw_graders.analysis.bash.arguments import Argument, Grammar, Parsed, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models.checked import Model, refuse_doubts
from aw_graders.analysis.bash.names import is_guarded

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_ENV: Final = grammar(
    "i0u:C:S:v",
    "ignore-environment null unset: chdir: split-string: block-signal:: default-signal::"
    " ignore-signal:: list-signal-handling debug help version",
    stops=True,
)
_XARGS: Final = grammar(
    "0a:d:E:e::I:i::L:l::n:oP:prs:tx",
    "null arg-file: delimiter: eof:: replace:: max-lines:: max-args: open-tty max-procs:"
    " interactive no-run-if-empty max-chars: show-limits verbose exit process-slot-var: help"
    " version",
    stops=True,
)
_SPLIT_HINT: Final = "write the command and its arguments as separate words"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs its operands as a command, behind a number of operands of its own."""

    grammar: Grammar
    own: int = 0

    def __call__(self, call: Call) -> None:
        """Judge the command that is started."""
        parsed = parse(call.arguments, self.grammar)
        refuse_doubts(call, Parsed(unknown=parsed.unknown))
        own, started = parsed.operands[: self.own], parsed.operands[self.own :]
        if any(not argument.is_single or not argument.is_calm for argument in own):
            refuse_doubts(call, Parsed(doubtful=list(own)))
        call.run(started)


def _env(call: Call) -> None:
    parsed = parse(call.arguments, _ENV)
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    for option in parsed.options:
        if option.name in ("S", "split-string"):
            message = "env -S makes a command of a text"
            call.report.dynamic(option.node, message, _SPLIT_HINT)
            return
    operands = parsed.operands
    if operands and operands[0].text == "-":
        # A lone dash says the same as -i.
        operands = operands[1:]
    for at, argument in enumerate(operands):
        match = _ASSIGNMENT.match(argument.head)
        if match is None:
            call.run(operands[at:])
            return
        if is_guarded(match[1]):
            message = f"{match[1]} changes what the command does"
            call.report.dynamic(argument.node, message, f"leave {match[1]} as it is")


def _xargs(call: Call) -> None:
    parsed = parse(call.arguments, _XARGS)
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    if not parsed.operands:
        message = "xargs without a command hands what it reads to echo, whatever it is"
        call.report.dynamic(call.node, message, "name the command: xargs printf '%s\\n'")
        return
    marks = [value.text for value in parsed.values("I", "replace", "i")]
    replaced = marks[-1] if marks else None
    if replaced is None and parsed.has("i", "replace"):
        replaced = "{}"
    if replaced is None and marks:
        message = "what xargs replaces is known only when the script runs"
        call.report.dynamic(call.node, message, "write -I{}")
        return
    call.run(_filled(parsed.operands, replaced))


def _filled(words: Sequence[Argument], replaced: str | None) -> list[Argument]:
    """Put something unknown where xargs puts what it reads."""
    if replaced is None:
        return [*words, Argument(words[-1].node, None, "", is_single=False, is_calm=False)]
    return [
        _unknown(word, word.text.partition(replaced)[0])
        if word.text is not None and replaced in word.text
        else word
        for word in words
    ]


def _unknown(word: Argument, head: str) -> Argument:
    is_calm = bool(head) and not head.startswith("-")
    return Argument(word.node, None, head, is_single=True, is_calm=is_calm)


WRAPPERS: Final[Mapping[str, Model]] = {
    "env": _env,
    "xargs": _xargs,
    "nohup": Wrapper(grammar("", "help version", stops=True)),
    "nice": Wrapper(grammar("n:0123456789", "adjustment: help version", stops=True)),
    "ionice": Wrapper(grammar("c:n:t", "class: classdata: ignore help version", stops=True)),
    "timeout": Wrapper(
        grammar(
            "k:s:vfp",
            "foreground kill-after: preserve-status signal: verbose help version",
            stops=True,
        ),
        own=1,
    ),
    "stdbuf": Wrapper(grammar("i:o:e:", "input: output: error: help version", stops=True)),
    "setsid": Wrapper(grammar("cfw", "ctty fork wait help version", stops=True)),
    "taskset": Wrapper(grammar("ac", "all-tasks cpu-list help version", stops=True), own=1),
    "time": Wrapper(
        # Without -o and --output, which write a file.
        grammar("f:pqvV", "format: portability quiet verbose", stops=True)
    ),
}
