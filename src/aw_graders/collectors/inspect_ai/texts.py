"""Texts of a sample, with those put back that its log keeps apart as attachments."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import Notes, is_list, is_mapping, mapping_of

_PREFIXES: Final = ("attachment://", "tc://")
_MIB: Final = 1024 * 1024
# What all references may come to; one long text that everything refers to must not fill memory.
MAX_ATTACHED: Final = 256 * _MIB


class Texts:
    """Reads content, within an allowance for attachments."""

    def __init__(self, sample: Mapping[str, Any], notes: Notes) -> None:
        """Learn the attachments of a sample, of a present log or an older one."""
        older = mapping_of(sample.get("transcript")) or {}
        self._attached: Final = {
            **(mapping_of(older.get("content")) or {}),
            **(mapping_of(sample.get("attachments")) or {}),
        }
        self._left = MAX_ATTACHED
        self._notes = notes

    def parts(self, content: object) -> list[dict[str, Any]]:
        """List the parts of a message's content; text alone is one part."""
        if isinstance(content, str):
            return [{"type": "text", "text": content}] if content else []
        return [part for part in content if is_mapping(part)] if is_list(content) else []

    def all(self, content: object) -> list[str]:
        """List the texts of a message's content."""
        return [
            self.plain(part.get("text"))
            for part in self.parts(content)
            if part.get("type") == "text"
        ]

    def plain(self, value: object) -> str:
        """Read a text; anything else is the empty one."""
        if not isinstance(value, str):
            return ""
        for prefix in _PREFIXES:
            if value.startswith(prefix):
                return self._put_back(value, value.removeprefix(prefix))
        return value

    def value(self, value: JsonValue) -> JsonValue:
        """Put texts back into a value: itself, its members, or the texts of its parts."""
        if isinstance(value, str):
            return self.plain(value)
        if is_mapping(value):
            return {key: self._member(item) for key, item in value.items()}
        if is_list(value):
            return [self._part(item) for item in value]
        return value

    def _part(self, value: JsonValue) -> JsonValue:
        if is_mapping(value):
            return {key: self._member(item) for key, item in value.items()}
        return self._member(value)

    def _member(self, value: JsonValue) -> JsonValue:
        return self.plain(value) if isinstance(value, str) else value

    def _put_back(self, reference: str, name: str) -> str:
        text = self._attached.get(name)
        if not isinstance(text, str):
            return reference
        if len(text) > self._left:
            message = "attachments are too large together; further ones are left as references"
            self._notes.count("attachments-too-large", message, None, lossy=True)
            return reference
        self._left -= len(text)
        return text
