"""Files of Gemini CLI and Qwen Code to unified-session events."""

from collections.abc import Sequence

from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.gemini import qwen, stream
from aw_graders.collectors.gemini.chat import Chat, ChatPool, ChatReader, ChatWriter, Message
from aw_graders.collectors.normalise import EventWriter, Notes
from aw_graders.collectors.records import Record, read_records
from aw_graders.session import Event


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert session files, all files as one set of evidence.

    Returns: the events of each file in file order; a message that several files hold gives events
        once, in the first of them, with all that any of them says of it.
    Raises: nothing.
    Cost: linear in the content.
    """
    chats = ChatPool()
    sources: list[_Source] = []
    for file in files:
        read = read_records(file)
        sources.append(_Source(Notes(file.name), read.notes, read.records, chats))
    for message in chats.messages.values():
        chats.link(message)
    rows = qwen.QwenPool()
    found: list[Event] = []
    notes: list[CollectionNote] = []
    for source in sources:
        found.extend(source.events(chats, rows))
        notes.extend((*source.read_notes, *source.notes.all()))
    return Collected(tuple(found), tuple(notes))


class _Source:
    """One file: what was first met in it, in file order."""

    def __init__(
        self,
        notes: Notes,
        read_notes: Sequence[CollectionNote],
        records: Sequence[Record],
        chats: ChatPool,
    ) -> None:
        self.notes = notes
        self.read_notes = read_notes
        self._reader = ChatReader(notes, chats)
        self._items: list[Chat | Message | Record] = []
        for record in records:
            self._read(record)

    def _read(self, record: Record) -> None:
        if qwen.is_row(record.value) or stream.is_row(record.value):
            self._items.append(record)
            return
        before = len(self._reader.own)
        self._reader.row(record)
        self._items.extend(self._reader.own[before:])

    def events(self, chats: ChatPool, rows: qwen.QwenPool) -> Sequence[Event]:
        """Write the file's events."""
        writer = EventWriter(self.notes.name, self.notes)
        chat = ChatWriter(writer, chats)
        qwen_rows = qwen.QwenWriter(writer, rows)
        stream_rows = stream.StreamWriter(writer)
        for item in self._items:
            if not isinstance(item, Record):
                chat.write(item)
            elif qwen.is_row(item.value):
                qwen_rows.row(item)
            else:
                stream_rows.row(item)
        stream_rows.finish()
        return writer.events
