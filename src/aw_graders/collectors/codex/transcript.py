"""The plain-text transcript that `codex exec` wrote before it could write JSON.

Every entry begins with a time in brackets. A call ends where an entry repeats its own text and says
how it ended, so that no line of an output is taken for it.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.codex.outcome import Outcome, outcome_of_code
from aw_graders.collectors.codex.rows import UNKNOWN, Row
from aw_graders.collectors.codex.scribe import Scribe
from aw_graders.collectors.codex.stream import SOURCE_ENGINE
from aw_graders.collectors.normalise import Notes, decoded_arguments
from aw_graders.session import Event, events

_HEAD_BYTES: Final = 256 * 1024
_STAMP: Final = r"\[([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z?)\] "
_PROGRAM: Final = "OpenAI Codex v"
_FIRST: Final = re.compile(
    rb"^(?:\xef\xbb\xbf)?" + f"{_STAMP}{_PROGRAM}[0-9]".encode(), re.MULTILINE
)
_ENTRY: Final = re.compile(_STAMP + r"(.*)", re.DOTALL)
_NAMES: Final = {"model": "model", "workdir": "cwd"}
_FIELD: Final = re.compile(r"(model|workdir): (\S.*)")
_COMMAND: Final = "exec "
_TOOL: Final = re.compile(r"tool ([^\s.(]+)\.([^\s(]+)\((.*)\)", re.DOTALL)
_TOKENS: Final = re.compile(r"tokens used: [0-9]")
_END: Final = re.compile(
    r" (?:(succeeded|success|failed)|exited (-?[0-9]{1,10})) in ([0-9.]{1,20})(ms|s):"
)
# A call's own text may hold what looks like an end; beyond this many it is not looked for.
_ENDS_LOOKED_AT: Final = 16
_MS_PER_SECOND: Final = 1000
_SAID: Final = {
    "User instructions:": events.USER_MESSAGE,
    "codex": events.ASSISTANT_MESSAGE,
    "thinking": events.ASSISTANT_REASONING,
}


class _Entry(msgspec.Struct, frozen=True):
    """One entry: its line, its time, its first line, and the lines below."""

    line: int
    time: str
    head: str
    rest: str

    @property
    def text(self) -> str:
        return f"{self.head}\n{self.rest}" if self.rest else self.head


class _Call(msgspec.Struct, frozen=True):
    """A call that has not ended: its id, its tool, and its server."""

    call_id: str
    name: str
    server: str | None


def is_transcript(content: bytes) -> bool:
    """Tell whether `content` is such a transcript: its first lines hold the program's own head."""
    return _FIRST.search(content, 0, _HEAD_BYTES) is not None


def read_transcript(name: str, content: bytes, notes: Notes) -> list[Event]:
    """Convert a transcript, in its own order. Raises: nothing. Cost: linear."""
    reader = _Reader(Scribe(name, notes))
    for entry in _entries(content):
        reader.entry(entry)
    return reader.scribe.writer.events


def _entries(content: bytes) -> Iterator[_Entry]:
    """Split the content where a line begins with a time."""
    found: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(content.decode("utf-8-sig", "replace").split("\n"), 1):
        bare = line.removesuffix("\r")
        match = _ENTRY.fullmatch(bare)
        if match is None:
            if found is not None:
                found[2].append(bare)
            continue
        if found is not None:
            yield _entry(*found)
        found = (number, match[1], [match[2]])
    if found is not None:
        yield _entry(*found)


def _entry(number: int, time: str, lines: list[str]) -> _Entry:
    return _Entry(number, time, lines[0], "\n".join(lines[1:]).strip("\n"))


class _Reader:
    """Writes the events of one transcript."""

    def __init__(self, scribe: Scribe) -> None:
        self.scribe = scribe
        self.calls = 0
        self.open: dict[str, deque[_Call]] = {}

    def entry(self, entry: _Entry) -> None:
        self.scribe.turn_to(Row(entry.line, entry.time, UNKNOWN, {}))
        if entry.head in _SAID:
            self.scribe.write(_SAID[entry.head], {"content": entry.rest})
        elif entry.head.startswith(_PROGRAM):
            self._head(entry)
        elif _TOKENS.match(entry.head):
            message = "tokens are counted without cached ones and not by input and output"
            self.scribe.notes.count("usage-not-split", message, entry.line, lossy=True)
        elif not (self._start(entry.text) or self._end(entry.text)):
            message = "an entry is of a kind that is not known and gave no event"
            self.scribe.notes.count("unknown-row", message, entry.line, lossy=False)

    def _head(self, entry: _Entry) -> None:
        data: dict[str, JsonValue] = {"sourceEngine": SOURCE_ENGINE}
        for line in entry.rest.split("\n"):
            field = _FIELD.fullmatch(line)
            if field is not None:
                data[_NAMES[field[1]]] = field[2]
        self.scribe.write(events.SESSION_START, data)

    def _start(self, text: str) -> bool:
        if text.startswith(_COMMAND):
            # The folder stands behind the command, which may hold the same word and line ends.
            command, found, folder = text.removeprefix(_COMMAND).rpartition(" in ")
            if found and folder and "\n" not in folder:
                self._begin(command, "exec", None, {"command": command, "cwd": folder})
                return True
        tool = _TOOL.fullmatch(text)
        if tool is not None:
            text = text.removeprefix("tool ")
            self._begin(text, tool[2], tool[1], decoded_arguments(tool[3]))
        return tool is not None

    def _begin(self, text: str, name: str, server: str | None, arguments: JsonValue) -> None:
        call = _Call(f"call-{self.calls}", name, server)
        self.calls += 1
        self.open.setdefault(text, deque()).append(call)
        self.scribe.start(call.call_id, name, {"input": arguments}, server)

    def _end(self, text: str) -> bool:
        """Close the oldest open call with the text that stands before how it ended."""
        for looked_at, match in enumerate(_END.finditer(text)):
            if looked_at == _ENDS_LOOKED_AT:
                break
            waiting = self.open.get(text[: match.start()])
            if waiting:
                call = waiting.popleft()
                output = text[match.end() :].removeprefix("\n")
                self.scribe.complete(call.call_id, call.name, _outcome(match), {"output": output})
                return True
        return False


def _outcome(match: re.Match[str]) -> Outcome:
    if match[2] is None:
        outcome = Outcome(success=match[1] != "failed")
    else:
        outcome = outcome_of_code(int(match[2]))
    try:
        number = float(match[3]) * (_MS_PER_SECOND if match[4] == "s" else 1)
    except ValueError:
        return outcome
    whole = int(number) if number.is_integer() else number
    return msgspec.structs.replace(outcome, duration_ms=whole)
