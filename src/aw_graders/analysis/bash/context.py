"""What everything that judges a script shares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aw_graders.analysis.bash.arguments import Argument
from aw_graders.analysis.bash.facts import Facts
from aw_graders.analysis.bash.report import TOO_COMPLEX, Reporter
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.values import Trait, Values
from aw_graders.analysis.bash.words import only_parameter, read_word

_MAX_DEPTH: Final = 20


@dataclass(frozen=True, slots=True)
class Where:
    """Where a statement stands: in which function, and whether something is its input."""

    function: str
    has_input: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The script as a whole.

    `handlers` has the tree of each text that a trap may run, `sinks` the files that may be written.
    `run` judges a command that another one starts, `walk_handler` the text of a trap.
    """

    report: Reporter
    facts: Facts
    values: Values
    handlers: Mapping[str, Node]
    sinks: frozenset[str]
    run: "Callable[[Call], None]"
    walk_handler: Callable[[str, Node, Where], None]

    def argument(self, word: Node, function: str) -> Argument:
        """Read a word as a program gets it."""
        text = read_word(word)
        if text.exact is not None:
            is_calm = not text.exact.startswith("-") or text.exact == "-"
            return Argument(word, text.exact, text.head, is_single=True, is_calm=is_calm)
        traits = self.values.of(word, function)
        is_calm = Trait.CALM in traits and (_is_held(word) or Trait.TIDY in traits)
        if text.head and text.head[0] != "-" and text.is_single:
            is_calm = True
        is_single = text.is_single or (bool(text.head) and Trait.TIDY in traits)
        if Trait.NUMBER in traits and only_parameter(word) is None:
            is_single = True
        filled = self.values.filled(word, function)
        return Argument(word, None, text.head, is_single, is_calm, filled)


def _is_held(word: Node) -> bool:
    """Tell whether Bash splits no part of a word and makes no file names of it."""
    return all(
        part.kind in ("DblQuoted", "SglQuoted", "ProcSubst")
        or (part.kind == "Lit" and not set(part.text()) & set("*?[{~"))
        for part in word.nodes("Parts")
    )


@dataclass(frozen=True, slots=True)
class Call:
    """One command with its arguments. `name` is the file name of the command.

    `is_builtin` tells what Bash runs itself from what another program finds by `PATH`; `depth`
    counts the commands that started this one.
    """

    name: str
    command: Argument
    arguments: Sequence[Argument]
    where: Where
    context: Context
    is_builtin: bool = True
    depth: int = 0

    @property
    def report(self) -> Reporter:
        """The findings of the script."""
        return self.context.report

    @property
    def node(self) -> Node:
        """The word that names the command."""
        return self.command.node

    def run(self, arguments: Sequence[Argument], *, keeps_builtins: bool = False) -> None:
        """Judge the command that these words make."""
        if not arguments:
            return
        if self.depth >= _MAX_DEPTH:
            message = "too many commands start each other"
            self.report.refuse(self.node, TOO_COMPLEX, message, "call the last command itself")
            return
        inner = replace(
            self,
            command=arguments[0],
            arguments=arguments[1:],
            is_builtin=keeps_builtins and self.is_builtin,
            depth=self.depth + 1,
        )
        self.context.run(inner)
