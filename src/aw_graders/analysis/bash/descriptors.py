"""Which descriptors are never anything but standard output, standard error or nothing."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from aw_graders.analysis.bash.facts import Facts
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.words import exact_text, only_parameter, read_word

_NOTHING: Final = "/dev/null"
_DEVICES: Final = frozenset((_NOTHING, "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"))
OUTPUTS: Final = frozenset(("1", "2"))
CLOSE: Final = "-"
# What a coprocess is reached by.
PIPE: Final = "a pipe"

_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_DUPLICATE: Final = re.compile(r"(?P<number>[0-9]{1,9})-?")
_WRITING: Final = frozenset((">", ">>", ">|", "<>"))
_BOTH: Final = frozenset(("&>", "&>>"))
_DUPLICATING: Final = frozenset((">&", "<&"))
# Bash gives these numbers to `{name}` and to what it opens itself.
_FIRST_CHOSEN: Final = 10
_PASSES: Final = 8


class Descriptors:
    """The descriptors of a script that only ever duplicate descriptor 1 or 2, or are closed."""

    def __init__(self, facts: Facts, sinks: frozenset[str]) -> None:
        """Look at every redirection.

        Takes: the facts, and the files that may be written.

        Cost: O(redirections times descriptors), at most eight passes.
        """
        self._facts = facts
        self._sinks = sinks
        given: dict[str, list[Node]] = {}
        for redirect in facts.redirects:
            given.setdefault(number_of(redirect), []).append(redirect)
        self._is_free_choice = any(number.startswith("{") for number in given)
        self._good: set[str] = set(given) | OUTPUTS
        for _ in range(_PASSES):
            bad = {number for number in self._good if not self._are_good(given.get(number, ()))}
            if not bad - OUTPUTS:
                return
            self._good -= bad - OUTPUTS
        self._good = set(OUTPUTS)

    def is_good(self, number: str) -> bool:
        """Tell whether a descriptor, by number or by `{name}`, writes to no file."""
        if number == PIPE:
            return True
        is_chosen = self._is_free_choice or bool(self._facts.coprocesses)
        if is_chosen and number.isdigit() and int(number) >= _FIRST_CHOSEN:
            return False
        return number in self._good

    def duplicated(self, word: Node) -> str | None:
        """Give the descriptor that a word behind `>&` names: its number or `{name}`; else None."""
        text = exact_text(word)
        if text is not None:
            match = _DUPLICATE.fullmatch(text)
            return None if match is None else str(int(match["number"]))
        parameter = only_parameter(word)
        name = None if parameter is None else parameter.node("Param")
        if parameter is None or name is None:
            return None
        sources = self._facts.sources.get(name.text(), [])
        if not sources or not all(source.is_descriptor for source in sources):
            return None
        fields = set(parameter.values) - {"Short", "Param"}
        if not fields:
            return "{" + name.text() + "}"
        is_pipe = fields == {"Index"} and name.text() in self._facts.coprocesses
        return PIPE if is_pipe else None

    def _are_good(self, redirects: Iterable[Node]) -> bool:
        return all(self._is_good_redirect(redirect) for redirect in redirects)

    def _is_good_redirect(self, redirect: Node) -> bool:
        operator, word = redirect.text("Op"), redirect.node("Word")
        if word is None:
            return False
        if operator in _WRITING:
            return is_sink(word, self._sinks)
        if operator in _DUPLICATING:
            if read_word(word).exact == CLOSE:
                return True
            source = self.duplicated(word)
            return source is not None and self.is_good(source)
        return False


def permitted_files(facts: Facts) -> frozenset[str]:
    """Give the files that a script may write.

    The devices of descriptors 1 and 2 are among them unless the script closes one of the two
    anywhere: the next file that is opened, also for reading, then takes its place.
    """
    closes = any(_closed(redirect) in OUTPUTS for redirect in facts.redirects)
    return frozenset((_NOTHING,)) if closes else _DEVICES


def _closed(redirect: Node) -> str | None:
    """Give the descriptor that a redirection closes: its own, or one that it moves."""
    text = exact_text(redirect.node("Word")) or ""
    if redirect.text("Op") not in _DUPLICATING or not text.endswith(CLOSE):
        return None
    moved = _DUPLICATE.fullmatch(text)
    return number_of(redirect) if moved is None else str(int(moved["number"]))


def is_sink(word: Node, sinks: frozenset[str]) -> bool:
    """Tell whether a word is a file that may be written, or a pipe to a command of the script."""
    if exact_text(word) in sinks:
        return True
    parts = word.nodes("Parts")
    return len(parts) == 1 and parts[0].kind == "ProcSubst" and parts[0].text("Op") == ">("


_DEFAULT_NUMBERS: Final[Mapping[str, str]] = {
    **dict.fromkeys((">", ">>", ">|", ">&", "&>", "&>>"), "1"),
    **dict.fromkeys(("<", "<>", "<&", "<<", "<<-", "<<<"), "0"),
}


def number_of(redirect: Node) -> str:
    """Give the descriptor that a redirection changes: its number, or `{name}`."""
    number = redirect.node("N")
    if number is None:
        return _DEFAULT_NUMBERS[redirect.text("Op")]
    text = number.text()
    return str(int(text)) if _NUMBER.fullmatch(text) else text
