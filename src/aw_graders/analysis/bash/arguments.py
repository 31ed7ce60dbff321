"""The words behind a command, and how programs read options from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aw_graders.analysis.bash.tree import Node


@dataclass(frozen=True, slots=True)
class Argument:
    """One word as the program gets it.

    `text` is its whole text when the script alone decides it, `head` what it begins with for sure.
    `is_single` says that it is exactly one argument; `is_calm` that no argument of it begins with
    a dash, so that no option can hide in it. `filled` is the text with 1 in the place of what is
    sure to be a number.
    """

    node: Node
    text: str | None
    head: str
    is_single: bool
    is_calm: bool
    filled: str | None = None

    def rest(self, length: int) -> "Argument":
        """Give what is left of a word behind its first characters, which are literal."""
        text = None if self.text is None else self.text[length:]
        return Argument(self.node, text, self.head[length:], self.is_single, is_calm=True)


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a program reads options.

    `short` is in the form of getopt: a letter, then `:` for a value or `::` for an attached value
    that may be missing; a letter is no option unless listed. `long` maps names without dashes to
    the same marks. `stops` says that options end at the first operand.
    """

    short: str = ""
    long: Mapping[str, str] = field(default_factory=dict[str, str])
    stops: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One option that is given: its letter or long name, and its value."""

    name: str
    node: Node
    value: Argument | None = None


@dataclass(slots=True)
class Parsed:
    """What a program finds in its arguments.

    `doubtful` are words that might hold options nobody can see; `unknown` are options that the
    grammar does not list.
    """

    options: list[Option] = field(default_factory=list[Option])
    operands: list[Argument] = field(default_factory=list[Argument])
    doubtful: list[Argument] = field(default_factory=list[Argument])
    unknown: list[Option] = field(default_factory=list[Option])

    def has(self, *names: str) -> bool:
        """Tell whether one of these options is given."""
        return any(option.name in names for option in self.options)

    def values(self, *names: str) -> Iterator[Argument]:
        """Give the values of these options in order."""
        for option in self.options:
            if option.name in names and option.value is not None:
                yield option.value


def grammar(short: str = "", long: str = "", *, stops: bool = False) -> Grammar:
    """Write a grammar: `long` has names parted by blanks, each with its mark (`name:`)."""
    names = {word.rstrip(":"): word[len(word.rstrip(":")) :] for word in long.split()}
    return Grammar(short, names, stops)


def parse(arguments: Sequence[Argument], rules: Grammar) -> Parsed:
    """Read arguments as getopt_long does: long names may be cut short, options may come last.

    Cost: O(arguments times long names).
    """
    found = Parsed()
    waiting = list(arguments)
    waiting.reverse()
    while waiting:
        argument = waiting.pop()
        if argument.text == "--":
            found.operands += reversed(waiting)
            break
        if argument.head.startswith("--") and len(argument.head) > len("--"):
            _long(argument, waiting, rules, found)
        elif argument.head.startswith("-") and argument.text != "-":
            _cluster(argument, waiting, rules, found)
        else:
            if not argument.is_calm:
                found.doubtful.append(argument)
            found.operands.append(argument)
            if rules.stops:
                found.operands += reversed(waiting)
                break
    return found


def _long(argument: Argument, waiting: list[Argument], rules: Grammar, found: Parsed) -> None:
    name, equals, _ = argument.head[2:].partition("=")
    if argument.text is None and not equals:
        found.doubtful.append(argument)
        return
    names = [name] if name in rules.long else [one for one in rules.long if one.startswith(name)]
    if not names:
        found.unknown.append(Option(name, argument.node))
        return
    value: Argument | None = None
    if equals:
        value = argument.rest(len("--") + len(name) + 1)
        if not argument.is_single:
            found.doubtful.append(argument)
    elif rules.long[names[0]] == ":" and waiting:
        value = _next(waiting, found)
    # An abbreviation that fits several names counts as each of them.
    found.options += [Option(one, argument.node, value) for one in names]


def _cluster(argument: Argument, waiting: list[Argument], rules: Grammar, found: Parsed) -> None:
    letters = argument.head
    at = 1
    while at < len(letters):
        letter = letters[at]
        place = rules.short.find(letter) if letter != ":" else -1
        if place < 0:
            found.unknown.append(Option(letter, argument.node))
            return
        at += 1
        if rules.short[place + 1 : place + 2] != ":":
            found.options.append(Option(letter, argument.node))
            continue
        is_optional = rules.short[place + 2 : place + 3] == ":"
        value: Argument | None = None
        if at < len(letters) or argument.text is None:
            value = argument.rest(at)
            if not argument.is_single:
                found.doubtful.append(argument)
        elif not is_optional and waiting:
            value = _next(waiting, found)
        found.options.append(Option(letter, argument.node, value))
        return
    if argument.text is None:
        found.doubtful.append(argument)


def _next(waiting: list[Argument], found: Parsed) -> Argument:
    """Take the word behind an option as its value; if it may be several, options may follow."""
    value = waiting.pop()
    if not value.is_single:
        found.doubtful.append(value)
    return value
