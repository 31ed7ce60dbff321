"""Notes of a whole run, kept by file."""

from collections.abc import Iterable

from aw_graders.collectors.base import CollectionNote
from aw_graders.collectors.normalise import Notes


class RunNotes:
    """The notes on every file of a run, in the order in which the files were met."""

    def __init__(self) -> None:
        """Begin without notes."""
        self._by_path: dict[str, Notes] = {}
        self._others: list[CollectionNote] = []

    def of(self, path: str) -> Notes:
        """Give the notes on one file, to add to."""
        return self._by_path.setdefault(path, Notes(path))

    def extend(self, notes: Iterable[CollectionNote]) -> None:
        """Add notes that another collector made."""
        self._others.extend(notes)

    def is_damaged(self, path: str) -> bool:
        """Tell whether evidence of a file was left out."""
        notes = self._by_path.get(path)
        return notes is not None and any(note.lossy for note in notes.all())

    def all(self) -> tuple[CollectionNote, ...]:
        """List all notes: those of this collector by file, then those of others."""
        own = [note for notes in self._by_path.values() for note in notes.all()]
        return (*own, *self._others)
