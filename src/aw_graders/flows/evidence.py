"""What an input is, and the session in it.

Source: decision 56. A faulty unified session is never handed to a collector.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders.collectors import CollectionNote, Collector, SourceFile
from aw_graders.diagnostics.words import counted
from aw_graders.flows.streaming import Source, is_streamable, stream_lookups
from aw_graders.lookups import SessionLookups, create_session_lookups
from aw_graders.session import Problem, Session, SessionFormatError, is_array, read_session
from aw_graders.session.codec import place_in, split_lines, too_long
from aw_graders.session.limits import MAX_LINE_BYTES

if TYPE_CHECKING:
    from aw_graders.redaction import KnownValues

UNIFIED: Final = "a unified session"
_LEGACY_KEYS: Final = frozenset({"toolCalls", "tokenUsageEntries", "schemaVersion"})
_PROVENANCE: Final = b'"provenance"'
_HEADER_NAME: Final = b"session.format"
_HEAD_BYTES: Final = 4096
_MAX_PROBED_LINES: Final = 1000
_BOM: Final = b"\xef\xbb\xbf"
_KINDS: Final = (
    "give a unified session (JSONL or a JSON array), or a recording of an agent that "
    "docs/collectors lists"
)


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """What an input was taken for, and what of it could not be used."""

    kind: str
    is_unified: bool
    problems: tuple[Problem, ...] = ()
    notes: tuple[CollectionNote, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """True when evidence was left out, so that numbers may miss something."""
        return bool(self.problems) or any(note.lossy for note in self.notes)


class Evidence(Read, frozen=True, kw_only=True):
    """A session that was read whole, and the add-mask commands of its evidence."""

    session: Session
    mask_lines: tuple[str, ...] = ()


class Observed(Read, frozen=True, kw_only=True):
    """The lookups of a session."""

    lookups: SessionLookups


def observe(evidence: Evidence, named: "KnownValues | None" = None) -> Observed:
    """Redact a session that was read whole and build its lookups.

    Takes: `named`, secret values; those of add-mask lines in the session are masked, too.
    """
    from aw_graders.redaction import redact  # noqa: PLC0415 - a stream loads it later
    from aw_graders.redaction.named import known_in  # noqa: PLC0415

    known = known_in(evidence.session, named, evidence.mask_lines)
    return Observed(
        lookups=create_session_lookups(redact(evidence.session, known).session),
        kind=evidence.kind,
        is_unified=evidence.is_unified,
        problems=evidence.problems,
        notes=evidence.notes,
        warnings=evidence.warnings,
    )


def observe_stream(
    source: Source, *, lenient: bool, named: "KnownValues | None" = None
) -> Observed | None:
    """Build the lookups of a large unified session, or answer None for anything else.

    Raises: SessionFormatError; OSError.
    """
    if not is_streamable(source):
        return None
    streamed = stream_lookups(source, lenient=lenient, named=named)
    return Observed(
        lookups=streamed.lookups,
        kind=UNIFIED,
        is_unified=True,
        problems=streamed.skipped,
        warnings=_settled(streamed.duplicate_keys, streamed.lone_surrogates),
    )


def _detect(content: bytes) -> Collector | None:
    # Loaded here because a unified session needs no collector.
    from aw_graders.collectors.registry import detect  # noqa: PLC0415

    return detect(content)


def _named(kind: str) -> Collector:
    from aw_graders.collectors.registry import COLLECTORS  # noqa: PLC0415 - as above

    return next(collector for collector in COLLECTORS if collector.id == kind)


def companions_of(content: bytes) -> tuple[str, ...]:
    """Name the path patterns, beside a file with this content, that belong to the same recording."""
    if is_unified(content):
        return ()
    collector = _detect(content)
    return () if collector is None else collector.companions


def read_evidence(
    files: Sequence[SourceFile], *, lenient: bool, strict: bool, kind: str | None = None
) -> Evidence:
    """Read one unified session, or the files of one recording.

    Takes: files in order, the given one first; `lenient` skips malformed events of a unified
        session; `strict` turns any lossy note of a recording into an error; `kind`, the id of the
        collector to use whatever the content looks like.
    Raises: SessionFormatError, whose problem says what is wrong and what to do.
    """
    first = files[0].content.removeprefix(_BOM)
    if not first.strip():
        raise SessionFormatError(Problem("is empty", hint=_KINDS))
    if kind is not None:
        return _collect(_named(kind), files, strict=strict)
    _refuse_legacy(first)
    if is_unified(first):
        return _read_unified(_only(files).removeprefix(_BOM), lenient=lenient)
    collector = _detect(first)
    if collector is not None:
        return _collect(collector, files, strict=strict)
    raise SessionFormatError(_unknown(first))


def _only(files: Sequence[SourceFile]) -> bytes:
    """Return the content of a unified session, which is one file."""
    if len(files) > 1:
        reason = "is a unified session, and more files were given"
        raise SessionFormatError(Problem(reason, hint="grade unified sessions one by one"))
    return files[0].content


def is_unified(content: bytes) -> bool:
    """Tell whether `content` is meant as a unified session, faulty or not."""
    content = content.removeprefix(_BOM)
    if _HEADER_NAME in content[:_HEAD_BYTES]:
        return True
    if _PROVENANCE not in content:
        return False
    if is_array(content):
        try:
            value = _json.decode(content)
        except _json.JsonError:
            return True
        return isinstance(value, list) and any(map(_has_provenance, value))
    probed = 0
    for _, line in split_lines(content):
        if _PROVENANCE in line:
            probed += 1
            try:
                if _has_provenance(_json.decode(line)):
                    return True
            except _json.JsonError:
                pass
            if probed >= _MAX_PROBED_LINES:
                break
    return False


def _has_provenance(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    record = cast("dict[str, Any]", value)
    return isinstance(record.get("provenance"), dict) and "type" in record


def _refuse_legacy(content: bytes) -> None:
    """Refuse preprocessed traces and evaluator requests by name."""
    if content.lstrip()[:1] != b"{":
        return
    line = content.lstrip().split(b"\n", 1)[0]
    value: object = None
    for text in (line, content):
        if len(text) <= MAX_LINE_BYTES:
            try:
                value = _json.decode(text)
                break
            except _json.JsonError:
                continue
    if not isinstance(value, dict) or "type" in value:
        return
    found = sorted(_LEGACY_KEYS & set(cast("dict[str, Any]", value)))
    if found:
        reason = f'is a legacy trace payload (it has "{found[0]}"), which is not accepted'
        raise SessionFormatError(Problem(reason, hint="give the run's usage/aw_session.jsonl"))
    if "run" in value and "event" in value:
        reason = "is an evaluator request, which is not accepted"
        raise SessionFormatError(Problem(reason, hint="give the run's usage/aw_session.jsonl"))


def _unknown(content: bytes) -> Problem:
    """Say why content is neither a session nor a recording that is known."""
    line = content.split(b"\n", 1)[0]
    if len(line) > MAX_LINE_BYTES and not is_array(content):
        return Problem(too_long(len(line)), 1, 1, "split it into one event per line")
    if b"\0" in content[:_HEAD_BYTES] or not _is_text(content[:_HEAD_BYTES]):
        return Problem("holds binary data, not a session", hint=_KINDS)
    if is_array(content):
        try:
            _json.decode(content)
        except _json.JsonError as failure:
            return msgspec.structs.replace(place_in(content, failure), hint=_KINDS)
        return Problem("is a JSON array of something else than events", hint=_KINDS)
    try:
        _json.decode(line)
    except _json.JsonError as failure:
        if not _decodes_as_json(content):
            return Problem(failure.reason, 1, failure.column, _KINDS)
    return Problem("is no recording of a kind that is known", hint=_KINDS)


def _decodes_as_json(content: bytes) -> bool:
    try:
        _json.decode(content)
    except _json.JsonError:
        return False
    return True


def _is_text(head: bytes) -> bool:
    # The cut may fall inside a character of up to four bytes.
    return any(_decodes(head[: len(head) - cut]) for cut in range(4))


def _decodes(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_unified(content: bytes, *, lenient: bool) -> Evidence:
    read = read_session(content, lenient=lenient)
    return Evidence(
        session=read.session,
        kind=UNIFIED,
        is_unified=True,
        problems=read.skipped,
        warnings=_settled(read.duplicate_keys, read.lone_surrogates),
    )


def _settled(duplicate_keys: int, lone_surrogates: int) -> tuple[str, ...]:
    """Say what decoding had to settle."""
    warnings: list[str] = []
    if duplicate_keys:
        warnings.append(f"{counted(duplicate_keys, 'duplicate key')}; the last one counts")
    if lone_surrogates:
        warnings.append(f"{counted(lone_surrogates, 'lone surrogate')}, read as U+FFFD")
    return tuple(warnings)


def _collect(collector: Collector, files: Sequence[SourceFile], *, strict: bool) -> Evidence:
    from aw_graders.collectors.mask_lines import mask_lines  # noqa: PLC0415 - as above

    collected = collector.collect(files)
    lossy = [note for note in collected.notes if note.lossy]
    if strict and lossy:
        first = lossy[0]
        raise SessionFormatError(
            Problem(first.message, first.line, None, "leave --strict out to skip it")
        )
    return Evidence(
        session=Session.of(collected.events),
        kind=collector.title,
        is_unified=False,
        notes=collected.notes,
        mask_lines=mask_lines(file.content for file in files),
    )
