"""The one sample that is read of what was given: samples are never mixed.

Source: the log format of Inspect, versions 1 and 2, as JSON and as archive.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders.collectors.base import SourceFile
from aw_graders.collectors.inspect_ai.archive import MAGIC, Archive, ArchiveError, choose
from aw_graders.collectors.inspect_ai.detect import is_sample
from aw_graders.collectors.inspect_ai.documents import BOM, Document, decode
from aw_graders.collectors.normalise import Notes, is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.skipped import reason_of

_NOT_READ: Final = "nothing was read"


class Sample(msgspec.Struct, frozen=True):
    """One sample of a log: the place of its file, its fields, and the model under evaluation."""

    file: int
    value: Mapping[str, Any]
    model: str | None = None


class _Found(msgspec.Struct):
    """What one file holds: how many samples, and the only one when there is one."""

    count: int = 0
    sample: Sample | None = None


def only_sample(files: Sequence[SourceFile], notes: Sequence[Notes]) -> Sample | None:
    """Find the only sample of all files; several or none are noted, and nothing is read.

    Raises: nothing.
    Cost: linear in the content and in what is unpacked of an archive.
    """
    found = [_read(file, number, notes[number]) for number, file in enumerate(files)]
    count = sum(item.count for item in found)
    if count == 1:
        return next((item.sample for item in found if item.sample is not None), None)
    for item, own in zip(found, notes, strict=True):
        if count and item.count:
            message = (
                f"the log holds {item.count} samples, and a session is one; {_NOT_READ}: "
                "give a log of one sample, or the sample's own JSON"
                if item.count == count
                else f"the files hold {count} samples, and a session is one; {_NOT_READ}"
            )
            own.add("several-samples", message, None, lossy=True)
            break
    if not count and notes:
        notes[0].add("no-sample", "no readable sample was found", None, lossy=True)
    return None


def _read(file: SourceFile, number: int, notes: Notes) -> _Found:
    if file.content.startswith(MAGIC):
        return _read_archive(file.content, number, notes)
    value = _value(decode(file.content.removeprefix(BOM)), notes)
    if value is None:
        return _Found()
    if is_sample(value):
        return _Found(1, Sample(number, value))
    samples = [item for item in list_of(value.get("samples")) if is_mapping(item)]
    if len(samples) < len(list_of(value.get("samples"))):
        message = "a sample is no object and was skipped"
        notes.count("sample-not-an-object", message, None, lossy=True)
    only = Sample(number, samples[0], _model(value)) if len(samples) == 1 else None
    return _Found(len(samples), only)


def _read_archive(content: bytes, number: int, notes: Notes) -> _Found:
    try:
        archive = Archive(content)
        choice = choose(archive)
        if archive.repeated:
            message = "entries of the archive have one name; the last one counts"
            notes.add("entry-again", message, None, lossy=False)
        if len(choice.samples) != 1:
            return _Found(len(choice.samples))
        value = _value(decode(archive.read(choice.samples[0])), notes)
        if value is None:
            return _Found(1)
        header = None if choice.header is None else decode(archive.read(choice.header)).value
    except ArchiveError as failure:
        notes.add(failure.code, f"{failure.reason}; {_NOT_READ}", None, lossy=True)
        return _Found()
    return _Found(1, Sample(number, value, _model(mapping_of(header) or {})))


def _value(document: Document, notes: Notes) -> Mapping[str, Any] | None:
    """Return the object in a document, noting what had to be settled."""
    if document.failure is not None:
        message = f"the log is not JSON or is cut off: {reason_of(document.failure)}"
        notes.add("not-json", message, document.line, lossy=True)
        return None
    conventions = (
        (document.not_numbers, "not-a-number", "NaN or an infinity was read as null"),
        (document.duplicate_keys, "duplicate-keys", "an object has a key twice; the last counts"),
        (
            document.lone_surrogates,
            "lone-surrogates",
            "half of a surrogate pair was replaced by U+FFFD",
        ),
    )
    for count, code, message in conventions:
        if count:
            notes.add(code, message, None, lossy=False)
    if not is_mapping(document.value):
        notes.add("not-an-object", "the document is no object", 1, lossy=True)
        return None
    return document.value


def _model(log: Mapping[str, Any]) -> str | None:
    return text_of((mapping_of(log.get("eval")) or {}).get("model"))
