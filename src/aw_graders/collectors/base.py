"""What every collector is: a test "is this mine", and a conversion into events and notes."""

from collections.abc import Callable, Sequence

import msgspec

from aw_graders.session import Event


class SourceFile(msgspec.Struct, frozen=True):
    """One file of evidence: a display name, its path relative to what was given, its bytes."""

    name: str
    content: bytes


class CollectionNote(msgspec.Struct, frozen=True):
    """Something a collector could not use, or a convention it applied, and where.

    `code` is kebab-case and stable. `lossy` is true when evidence was left out, so that results
    are marked partial; a convention that was merely applied is not lossy.
    """

    code: str
    message: str
    name: str
    line: int | None = None
    lossy: bool = True

    def text(self) -> str:
        """Spell the note in one line, with the place in front."""
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{place}: {self.message} [{self.code}]"


class Collected(msgspec.Struct, frozen=True):
    """What a collector made of its files: events in source order, and notes.

    `mask_lines` are the commands in any text that name a secret, whether an event holds them or not.
    """

    events: Sequence[Event]
    notes: tuple[CollectionNote, ...] = ()
    mask_lines: tuple[str, ...] = ()


class Collector(msgspec.Struct, frozen=True):
    """One kind of recording.

    `detect` looks at the content of one file alone, never at its name, and raises nothing.
    `companions` lists relative path patterns, beside the given file, that belong to the recording;
    `{stem}` stands for the file's name without its suffix.
    `collect` takes the given files in order, raises nothing, and is deterministic.
    """

    id: str
    title: str
    detect: Callable[[bytes], bool]
    collect: Callable[[Sequence[SourceFile]], Collected]
    companions: tuple[str, ...] = ()
