"""What a script says about its names anywhere: functions, variables, arrays, descriptors.

Nothing here asks in which order things happen: what a name may hold is everything that any line
gives to it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.words import exact_text, read_word

TOP: Final = ""
# The handler of a trap runs wherever the signal comes.
ANYWHERE: Final = "*"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NAMERS: Final = frozenset(
    (
        *("read", "mapfile", "readarray", "getopts", "wait"),
        *("declare", "typeset", "local", "export", "readonly"),
    )
)
_PREFIX_WORDS: Final = 4
_ASSIGNING: Final = frozenset(
    ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=")
)
_STEPS: Final = frozenset(("++", "--"))
_DEFAULTING: Final = frozenset(("=", ":="))


@dataclass(frozen=True, slots=True)
class Source:
    """One way by which a name gets a value: a word, a number, or something unknown (neither).

    `is_descriptor` says that the number is a descriptor that Bash has chosen.
    """

    word: Node | None
    function: str
    is_number: bool = False
    is_descriptor: bool = False


def _descriptor(function: str) -> Source:
    return Source(None, function, is_number=True, is_descriptor=True)


@dataclass(slots=True)
class Facts:
    """Everything that is gathered from a script; filled by `gather`, then only read.

    `sources` is keyed by name of a variable, `passed` by name of a function, for what its
    positional parameters may be. `keyed` has the associative arrays of each function.
    """

    functions: set[str] = field(default_factory=set[str])
    sources: dict[str, list[Source]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[str, list[tuple[tuple[Node, ...], str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    set_words: dict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    arrays: set[str] = field(default_factory=set[str])
    keyed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    references: set[str] = field(default_factory=set[str])
    redirects: list[Node] = field(default_factory=list[Node])
    coprocesses: set[str] = field(default_factory=set[str])
    handlers: set[str] = field(default_factory=set[str])

    passed: dict[tuple[str, int], frozenset[str | None]] = field(
        default_factory=dict[tuple[str, int], frozenset[str | None]]
    )

    def passed_at(self, function: str, position: int) -> frozenset[str | None]:
        """Give the texts that a function is called with at one position; None for unknown ones."""
        known = self.passed.get((function, position))
        if known is None:
            calls = self.calls.get(function, [])
            known = frozenset(_at(words, position) for words, _ in calls if len(words) >= position)
            self.passed[function, position] = known
        return known

    def assign(self, name: str, source: Source) -> None:
        """Note that a name may get a value."""
        self.sources[name].append(source)


def _at(words: tuple[Node, ...], position: int) -> str | None:
    if position < 1 or not all(read_word(word).is_single for word in words[:position]):
        return None
    return exact_text(words[position - 1])


def gather(root: Node, function: str, facts: Facts) -> None:
    """Add what a script, or the handler of a trap, says to the facts.

    Cost: O(nodes).
    """
    waiting = [(root, function)]
    while waiting:
        node, where = waiting.pop()
        take = _TAKERS.get(node.kind)
        if take is not None:
            take(node, where, facts)
        if node.kind == "FuncDecl":
            where = name_of(node)
        waiting += [(child, where) for child in node.children() if child.kind != "Lit"]


def name_of(node: Node) -> str:
    """Give the name in the `Name` field of a node, empty when it has none."""
    name = node.node("Name")
    return "" if name is None else name.text()


def operands_of_set(words: tuple[Node, ...]) -> tuple[Node, ...]:
    """Give the words that `set` makes positional parameters of."""
    takes_name = False
    for at, word in enumerate(words):
        text = exact_text(word)
        if text in ("--", "-"):
            return words[at + 1 :]
        if takes_name:
            takes_name = False
        elif text is None or text[:1] not in ("-", "+"):
            return words[at:]
        else:
            takes_name = text.endswith("o")
    return ()


def identifier(text: str | None) -> str | None:
    """Give the name at the beginning of `name`, `name=value` or `name[...]`."""
    match = _IDENTIFIER.match(text or "")
    return None if match is None else match[0]


def _function(node: Node, _: str, facts: Facts) -> None:
    facts.functions.add(name_of(node))


def _assignment(node: Node, where: str, facts: Facts) -> None:
    name = name_of(node)
    if not name:
        return
    value, array = node.node("Value"), node.node("Array")
    if array is not None or node.node("Index") is not None:
        facts.arrays.add(name)
    for word in _values(value, array):
        facts.assign(name, Source(word, where))


def _values(value: Node | None, array: Node | None) -> Iterator[Node]:
    if value is not None:
        yield value
    for element in () if array is None else array.nodes("Elems"):
        word = element.node("Value")
        if word is not None:
            yield word


def _declaration(node: Node, where: str, facts: Facts) -> None:
    options = ""
    for assign in node.nodes("Args"):
        word = assign.node("Value")
        if not name_of(assign) and word is not None:
            text = exact_text(word) or read_word(word).head
            if text.startswith("-"):
                options += text
            else:
                _unknown(text, where, facts)
    for assign in node.nodes("Args"):
        name = name_of(assign)
        if not name:
            continue
        if "a" in options or "A" in options:
            facts.arrays.add(name)
        if "A" in options:
            facts.keyed.add((TOP if "g" in options else where, name))
        if "n" in options:
            facts.references.add(name)
            _unknown(exact_text(assign.node("Value")), where, facts)


def _call(node: Node, where: str, facts: Facts) -> None:
    words = node.nodes("Args")
    if not words:
        return
    names = [exact_text(word) for word in words[:_PREFIX_WORDS]]
    if names[0] is not None:
        facts.calls[names[0]].append((words[1:], where))
    for at, name in enumerate(names):
        if name == "set":
            facts.set_words[where] += operands_of_set(words[at + 1 :])
        elif name in _NAMERS:
            for word in words[at + 1 :]:
                _unknown(exact_text(word), where, facts)
        elif name == "printf":
            _printf(words[at + 1 :], where, facts)
        elif name == "trap":
            handler = next((text for text in _texts(words[at + 1 :]) if text[:1] != "-"), None)
            if handler:
                facts.handlers.add(handler)


def _texts(words: tuple[Node, ...]) -> Iterator[str]:
    return (text for text in map(exact_text, words) if text is not None)


def _printf(words: tuple[Node, ...], where: str, facts: Facts) -> None:
    first = exact_text(words[0]) if words else None
    if first is not None and first.startswith("-v"):
        _unknown(first[2:] or exact_text(words[1] if words[1:] else None), where, facts)


def _unknown(text: str | None, where: str, facts: Facts) -> None:
    name = identifier(text)
    if name is not None:
        facts.assign(name, Source(None, where))


def _loop(node: Node, where: str, facts: Facts) -> None:
    items = node.nodes("Items")
    for word in items:
        facts.assign(name_of(node), Source(word, where))
    if not items:
        facts.assign(name_of(node), Source(None, where))


def _parameter(node: Node, where: str, facts: Facts) -> None:
    expansion, name = node.node("Exp"), node.node("Param")
    if expansion is not None and name is not None and expansion.text("Op") in _DEFAULTING:
        facts.assign(name.text(), Source(expansion.node("Word"), where))


def _arithmetic(node: Node, where: str, facts: Facts) -> None:
    if is_assigning(node):
        name = arithmetic_name(node.node("X"))
        if name is not None:
            facts.assign(name, Source(None, where, is_number=True))


def is_assigning(node: Node) -> bool:
    """Tell whether an operation of arithmetic sets its first operand."""
    return node.text("Op") in (_ASSIGNING if node.kind == "BinaryArithm" else _STEPS)


def arithmetic_name(node: Node | None) -> str | None:
    """Give the variable that an operand of arithmetic names, if it is one."""
    parts = () if node is None else node.nodes("Parts")
    if len(parts) != 1:
        return None
    name = parts[0] if parts[0].kind == "Lit" else parts[0].node("Param")
    return None if name is None else identifier(name.text())


def _redirect(node: Node, where: str, facts: Facts) -> None:
    facts.redirects.append(node)
    number = node.node("N")
    if number is not None and number.text().startswith("{"):
        facts.assign(identifier(number.text()[1:]) or "", _descriptor(where))


def _coprocess(node: Node, where: str, facts: Facts) -> None:
    name = exact_text(node.node("Name")) or "COPROC"
    facts.coprocesses.add(name)
    facts.assign(name, _descriptor(where))


_TAKERS: Final[Mapping[str, Callable[[Node, str, Facts], None]]] = {
    "FuncDecl": _function,
    "Assign": _assignment,
    "DeclClause": _declaration,
    "CallExpr": _call,
    "WordIter": _loop,
    "ParamExp": _parameter,
    "BinaryArithm": _arithmetic,
    "UnaryArithm": _arithmetic,
    "Redirect": _redirect,
    "CoprocClause": _coprocess,
}
