"""What the words of a script may turn out to be: an option, several words, a number, code."""

import re
from collections.abc import Iterable, Iterator
from enum import Flag, auto
from functools import reduce
from typing import Final

from aw_graders.analysis.bash.facts import ANYWHERE, TOP, Facts, Source
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.words import (
    is_pattern,
    literal_pieces,
    only_parameter,
    piece_text,
    read_word,
)


class Trait(Flag):
    """What is sure of a value.

    CALM: it does not begin with a dash. TIDY: it stays one word without quotes. NUMBER: it is a
    whole number. INERT: the script does not write code into it that arithmetic would run.
    """

    CALM = auto()
    TIDY = auto()
    NUMBER = auto()
    INERT = auto()


_ALL: Final = Trait.CALM | Trait.TIDY | Trait.NUMBER | Trait.INERT
_NOTHING_KNOWN: Final = Trait.INERT
_NUMBER: Final = _ALL
_PATH: Final = Trait.CALM | Trait.TIDY | Trait.INERT
_TIDY: Final = re.compile(r"[A-Za-z0-9_./=,:+@%]*")
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")
# Passes over all variables; a script with longer chains of copies is taken for one of no traits.
_MAX_PASSES: Final = 12
# What Bash sets without a line of the script that says so.
_SET_BY_BASH: Final = {
    **dict.fromkeys(
        ("REPLY", "MAPFILE", "BASH_REMATCH", "OPTARG", "BASH_COMMAND", "BASH_ARGV", "_"),
        _NOTHING_KNOWN,
    ),
    **dict.fromkeys(("BASH_ARGV0", "FUNCNAME", "OLDPWD", "DIRSTACK", "-"), _NOTHING_KNOWN),
    **dict.fromkeys(("#", "?", "$", "!", "RANDOM", "SECONDS", "LINENO", "OPTIND"), _NUMBER),
    **dict.fromkeys(("EUID", "UID", "PPID", "BASHPID", "PIPESTATUS", "EPOCHSECONDS"), _NUMBER),
    "GH_AW_GRADER_CONFIG": Trait.CALM | Trait.INERT,
}
_KEEPING: Final = frozenset(("%", "%%", "^", "^^", ",", ",,", "?", ":?"))
_DEFAULTING: Final = frozenset(("-", ":-", "=", ":="))
# A bracket, or an escape that printf may make one of.
_BRACKETS: Final = re.compile(r"\[|\\[xuU0-7]")
# `wc -l` with nothing but its input prints one number.
_COUNTING_WORDS: Final = 2
_TEXT_MAKERS: Final = frozenset(("echo", "printf"))
_INSTEAD: Final = frozenset(("+", ":+"))


class Values:
    """Answers what a word of the script may be, whatever the order in which lines run."""

    def __init__(self, facts: Facts) -> None:
        """Work out the traits of all variables and of what functions are called with.

        Cost: O(words that are assigned or passed), times at most a dozen.
        """
        self._variables: dict[str, Trait] = {}
        self._passed: dict[str, Trait] = {}
        self._through_references = _ALL
        self._solve(facts)

    def of(self, word: Node, function: str) -> Trait:
        """Give what is sure of a word that stands in a function."""
        text = read_word(word)
        if text.exact is not None:
            return _of_text(text.exact)
        parameter = only_parameter(word)
        if parameter is not None:
            return self._of_parameter(parameter, function)
        return self._of_mixed(word, function)

    def variable(self, name: str, function: str) -> Trait:
        """Give what is sure of a variable, or of a parameter of a function."""
        if name.isdigit():
            return _PATH if name == "0" else self._passed.get(function, _PATH)
        if name in ("@", "*"):
            return self._passed.get(function, _PATH)
        known = _SET_BY_BASH.get(name)
        assigned = self._variables.get(name)
        if assigned is None:
            return _PATH if known is None else known
        return assigned if known is None else assigned & known

    def filled(self, word: Node, function: str) -> str | None:
        """Give the text of a word with 1 in the place of numbers, if there is nothing else."""
        if is_pattern(word):
            return None
        pieces: list[str] = []
        for part, is_inner in _parts(word):
            if part.kind in ("Lit", "SglQuoted"):
                pieces.append(piece_text(part, quoted=is_inner))
            elif Trait.NUMBER in self._of_part(part, function):
                pieces.append("1")
            else:
                return None
        return "".join(pieces)

    def _solve(self, facts: Facts) -> None:
        variables = {name: self._split(sources) for name, sources in facts.sources.items()}
        passed = {name: self._split(sources) for name, sources in _words_passed(facts).items()}
        self._variables = dict.fromkeys(variables, _ALL)
        self._passed = dict.fromkeys(passed, _ALL)
        for _ in range(_MAX_PASSES):
            before = (self._variables, self._passed)
            self._variables = {name: self._all_of(*split) for name, split in variables.items()}
            self._passed = {name: self._all_of(*split) for name, split in passed.items()}
            if facts.references:
                self._spread(facts.references)
            if before == (self._variables, self._passed):
                return
        self._variables = dict.fromkeys(self._variables, Trait(0))
        self._passed = dict.fromkeys(self._passed, Trait(0))

    def _split(self, sources: Iterable[Source]) -> tuple[Trait, list[Source]]:
        """Give what is sure of all constant sources, and the sources that depend on others."""
        traits = _ALL
        open_ones: list[Source] = []
        for source in sources:
            word = source.word
            if word is not None and read_word(word).exact is None:
                open_ones.append(source)
            else:
                traits &= self._of_source(source)
        return traits, open_ones

    def _spread(self, references: Iterable[str]) -> None:
        """Let what a name reference gets reach every variable that it may stand for."""
        written = [self._variables[name] for name in references if name in self._variables]
        reached = reduce(Trait.__and__, written, _ALL)
        self._variables = {name: traits & reached for name, traits in self._variables.items()}

    def _all_of(self, traits: Trait, sources: Iterable[Source]) -> Trait:
        for source in sources:
            traits &= self._of_source(source)
        return traits

    def _of_source(self, source: Source) -> Trait:
        if source.word is not None:
            return self.of(source.word, source.function)
        return _NUMBER if source.is_number else _NOTHING_KNOWN

    def _of_parameter(self, node: Node, function: str) -> Trait:
        name = node.node("Param")
        if node.flag("Length"):
            return _NUMBER
        if name is None or node.flag("Excl"):
            return _NOTHING_KNOWN
        traits = self.variable(name.text(), function)
        if node.node("Index") is not None and name.text() not in self._variables:
            # An array that no line fills is one of somebody else.
            traits &= Trait.INERT
        if node.node("Slice") is not None and name.text() not in ("@", "*"):
            traits &= Trait.INERT
        if node.node("Repl") is not None:
            traits &= Trait.INERT
        expansion = node.node("Exp")
        return traits if expansion is None else self._of_expansion(expansion, traits, function)

    def _of_expansion(self, expansion: Node, traits: Trait, function: str) -> Trait:
        operator, word = expansion.text("Op"), expansion.node("Word")
        given = _of_text("") if word is None else self.of(word, function)
        if operator in _KEEPING:
            return traits
        if operator in _DEFAULTING:
            return traits & given
        if operator in _INSTEAD:
            return given
        return traits & Trait.INERT

    def _of_mixed(self, word: Node, function: str) -> Trait:
        """Judge a word of several parts: it begins like the first that is not empty."""
        parts = [part for part, _ in _parts(word)]
        each = [self._of_part(part, function) for part in parts]
        traits = reduce(Trait.__and__, each, _ALL)
        traits &= ~(Trait.NUMBER | Trait.CALM)
        if len(parts) == 1:
            traits |= each[0] & (Trait.NUMBER | Trait.CALM)
        elif _begins_calm(parts, each):
            traits |= Trait.CALM
        if any("[" in piece for piece in literal_pieces(word)):
            traits &= ~Trait.INERT
        return traits

    def _of_part(self, part: Node, function: str) -> Trait:
        if part.kind == "ParamExp":
            return self._of_parameter(part, function)
        if part.kind == "ArithmExp":
            return _NUMBER
        if part.kind == "ProcSubst":
            return _PATH
        if part.kind in ("Lit", "SglQuoted"):
            return _of_text(part.text())
        return _of_substitution(part)


def _parts(word: Node) -> Iterator[tuple[Node, bool]]:
    """Give the parts of a word, those within double quotes too, and whether they stand there."""
    for part in word.nodes("Parts"):
        if part.kind == "DblQuoted":
            yield from ((inner, True) for inner in part.nodes("Parts"))
        else:
            yield part, False


def _begins_calm(parts: list[Node], each: list[Trait]) -> bool:
    for part, traits in zip(parts, each, strict=True):
        if Trait.CALM not in traits:
            return False
        if part.kind in ("Lit", "SglQuoted") and part.text():
            return True
    return True


def _of_text(text: str) -> Trait:
    traits = Trait(0)
    if not text.startswith("-") or text == "-":
        traits |= Trait.CALM
    if _TIDY.fullmatch(text):
        traits |= Trait.TIDY
    if _WHOLE.fullmatch(text):
        traits |= Trait.NUMBER | Trait.CALM
    if "[" not in text and "`" not in text and "$(" not in text:
        traits |= Trait.INERT
    return traits


def _of_substitution(part: Node) -> Trait:
    """Count what printf and echo put together alone as text of the script."""
    statements = part.nodes("Stmts")
    command = statements[0].node("Cmd") if len(statements) == 1 else None
    words = () if command is None else command.nodes("Args")
    name = read_word(words[0]).exact if words else None
    if name == "wc" and all(read_word(word).head.startswith("-") for word in words[1:]):
        return _NUMBER if len(words) == _COUNTING_WORDS else _NOTHING_KNOWN
    if name not in _TEXT_MAKERS:
        return _NOTHING_KNOWN
    pieces = (piece for word in words[1:] for piece in literal_pieces(word))
    return Trait(0) if any(map(_BRACKETS.search, pieces)) else _NOTHING_KNOWN


def _words_passed(facts: Facts) -> dict[str, list[Source]]:
    """Give what the positional parameters of each function, and of the script, may be."""
    passed: dict[str, list[Source]] = {TOP: []}
    for name in facts.functions:
        calls = facts.calls.get(name, [])
        passed[name] = [Source(word, where) for words, where in calls for word in words]
    for where, words in facts.set_words.items():
        passed.setdefault(where, []).extend(Source(word, where) for word in words)
    everything = [source for sources in passed.values() for source in sources]
    passed[ANYWHERE] = everything
    if not passed[TOP]:
        del passed[TOP]
    return passed
