"""Telling an Inspect log, or one sample of it, from everything else."""

import re
from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.inspect_ai.archive import MAGIC
from aw_graders.collectors.inspect_ai.documents import BOM, decode
from aw_graders.collectors.normalise import is_mapping

_HEAD_BYTES: Final = 4096
_OPENING: Final = re.compile(
    rb'\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,'
    rb'\s*(?:"[a-z_]+"\s*:\s*(?:"[^"]*"|[a-z]+)\s*,\s*)?"eval"\s*:\s*\{'
)
# Names of entries, of which every log archive has one.
_ENTRIES: Final = (b"_journal/start.json", b"header.json")
_LOG_KEYS: Final = (b'"eval"', b'"status"', b'"version"')
_SAMPLE_KEYS: Final = (b'"epoch"', b'"target"', b'"messages"')


def detect(content: bytes) -> bool:
    """Tell whether `content` is an Inspect log, as JSON or archive, or a sample. Raises nothing.

    Cost: a search; for JSON of another order of keys that names all of them, one reading.
    """
    if content.startswith(MAGIC):
        return any(name in content for name in _ENTRIES) and b"samples/" in content
    text = content.removeprefix(BOM)
    head = text[:_HEAD_BYTES]
    if not head.lstrip().startswith(b"{"):
        return False
    if _OPENING.match(head) is not None:
        return True
    if not any(all(key in text for key in keys) for keys in (_LOG_KEYS, _SAMPLE_KEYS)):
        return False
    value = decode(text).value
    return is_mapping(value) and (is_log(value) or is_sample(value))


def is_log(value: Mapping[str, Any]) -> bool:
    """Tell whether a document is a whole log."""
    return (
        is_mapping(value.get("eval"))
        and isinstance(value.get("status"), str)
        and "version" in value
        and not is_mapping(value.get("provenance"))
    )


def is_sample(value: Mapping[str, Any]) -> bool:
    """Tell whether a document is one sample of a log."""
    return (
        {"id", "epoch", "input", "target"} <= value.keys()
        and isinstance(value.get("messages"), list)
        and not is_mapping(value.get("provenance"))
    )
