"""Reads a sed script as GNU sed does, to find commands that write files or run programs."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from aw_graders.analysis.bash.awk import Danger

_BLANKS: Final = frozenset(" \t")
_SEPARATORS: Final = frozenset(" \t\n;")
_PLAIN: Final = frozenset("{}=dDgGhHnNpPxzF")
_WITH_NUMBER: Final = frozenset("lLqQ")
_TEXTS: Final = frozenset("aic")
_LABELS: Final = frozenset("btT:v")
_NUMBER: Final = re.compile(r"[0-9]*")
_LABEL: Final = re.compile(r"[ \t]*[^\s;}]*")
# Versions do not agree whether a brace ends a label; behind these it makes no difference.
_LABEL_END: Final = re.compile(r"[} \t]*(?:[;\n]|\Z)")
_FLAGS: Final = frozenset("gpiImM0123456789")
_WRITE: Final = "sed writes to"
_RUN: Final = Danger("sed runs a command")


class _UnreadableError(Exception):
    """A script that is not sed, or not plainly so."""


def find_dangers(script: str, sinks: frozenset[str]) -> list[Danger]:
    """Give what is refused in a script.

    Takes: its text, and the files that may be written.
    Raises: nothing; a script that cannot be read is refused itself.
    Cost: O(length).
    """
    reader = _Reader(script, sinks)
    try:
        while reader.at < len(script):
            reader.command()
    except _UnreadableError as failure:
        reader.dangers.append(Danger(f"this script of sed cannot be read: {failure}"))
    return list(dict.fromkeys(reader.dangers))


class _Reader:
    """Reads commands one after another."""

    def __init__(self, script: str, sinks: frozenset[str]) -> None:
        """Start at the beginning."""
        self.sinks = sinks
        self.script = script
        self.at = 0
        self.dangers: list[Danger] = []

    def command(self) -> None:
        """Read one command with its addresses."""
        self._skip(_SEPARATORS)
        if self.at >= len(self.script):
            return
        if self._address():
            self._skip(_BLANKS)
            if self._peek() == ",":
                self.at += 1
                self._skip(_BLANKS)
                self._second_address()
        self._skip(_BLANKS | {"!"})
        letter = self._peek()
        self.at += 1
        read = _COMMANDS.get(letter)
        if read is None:
            msg = f"command {letter!r}" if letter else "an address without a command"
            raise _UnreadableError(msg)
        read(self)

    def _peek(self) -> str:
        return self.script[self.at : self.at + 1]

    def _skip(self, characters: "frozenset[str]") -> None:
        while self.at < len(self.script) and self.script[self.at] in characters:
            self.at += 1

    def _address(self) -> bool:
        first = self._peek()
        if first.isdecimal() and first.isascii():
            self._number()
            if self._peek() == "~":
                self.at += 1
                self._number()
        elif first == "$":
            self.at += 1
        elif first in ("/", "\\") and first:
            self.at += 1
            delimiter = first
            if first == "\\":
                delimiter = self._peek()
                self.at += 1
            self._until(delimiter)
            self._skip(frozenset("IM"))
        else:
            return False
        return True

    def _second_address(self) -> None:
        if self._peek() in ("+", "~"):
            self.at += 1
            self._number()
        elif not self._address():
            msg = "an address"
            raise _UnreadableError(msg)

    def _number(self) -> None:
        match = _NUMBER.match(self.script, self.at)
        self.at = self.at if match is None else match.end()

    def _until(self, delimiter: str) -> None:
        """Go behind the next delimiter that no backslash precedes."""
        if delimiter in ("", "\n", "\\"):
            msg = "a delimiter"
            raise _UnreadableError(msg)
        script, at = self.script, self.at
        while at < len(script):
            if script[at] == "\\":
                at += 2
            elif script[at] == delimiter:
                self.at = at + 1
                return
            else:
                at += 1
        msg = f"nothing ends what {delimiter!r} begins"
        raise _UnreadableError(msg)

    def _line(self) -> str:
        """Take the rest of the line."""
        end = self.script.find("\n", self.at)
        end = len(self.script) if end < 0 else end
        taken, self.at = self.script[self.at : end], end
        return taken

    def plain(self) -> None:
        """Read a command without arguments."""

    def with_number(self) -> None:
        """Read a command with a number that may be missing."""
        self._skip(_BLANKS)
        self._number()

    def comment(self) -> None:
        """Read a comment."""
        self._line()

    def label(self) -> None:
        """Read a label: to the end of the line, or of the command."""
        match = _LABEL.match(self.script, self.at)
        self.at = self.at if match is None else match.end()
        if self._peek() == "}" and _LABEL_END.match(self.script, self.at) is None:
            msg = "what stands behind a label"
            raise _UnreadableError(msg)

    def text(self) -> None:
        """Read the text of a, i or c: lines that end with a backslash go on."""
        while True:
            line = self._line()
            self.at += 1
            if (len(line) - len(line.rstrip("\\"))) % 2 == 0 or self.at >= len(self.script):
                return

    def reading(self) -> None:
        """Read the name of a file that is read."""
        self._line()

    def writing(self) -> None:
        """Read the name of a file that is written."""
        name = self._line().lstrip(" \t")
        if name not in self.sinks:
            self.dangers.append(Danger(f"{_WRITE} {name}", is_write=True))

    def running(self) -> None:
        """Read a command that runs a program."""
        self._line()
        self.dangers.append(_RUN)

    def substitution(self) -> None:
        """Read `s` with its flags."""
        delimiter = self._peek()
        self.at += 1
        self._until(delimiter)
        self._until(delimiter)
        while True:
            flag = self._peek()
            if flag and flag in _FLAGS:
                self.at += 1
            elif flag == "w":
                self.at += 1
                self.writing()
                return
            elif flag == "e":
                self.at += 1
                self.dangers.append(_RUN)
            else:
                return

    def transliteration(self) -> None:
        """Read `y`."""
        delimiter = self._peek()
        self.at += 1
        self._until(delimiter)
        self._until(delimiter)


_COMMANDS: Final[Mapping[str, Callable[[_Reader], None]]] = {
    **dict.fromkeys(_PLAIN, _Reader.plain),
    **dict.fromkeys(_WITH_NUMBER, _Reader.with_number),
    **dict.fromkeys(_TEXTS, _Reader.text),
    **dict.fromkeys(_LABELS, _Reader.label),
    "#": _Reader.comment,
    "r": _Reader.reading,
    "R": _Reader.reading,
    "w": _Reader.writing,
    "W": _Reader.writing,
    "e": _Reader.running,
    "s": _Reader.substitution,
    "y": _Reader.transliteration,
}
