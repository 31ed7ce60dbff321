"""The executable manifest as a document: what the compiler freezes and the graders job runs.

It is the one document that holds code, and no other job gets it.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any, Final, cast

from aw_graders._json import JsonValue
from aw_graders.config.custom import ID, INLINE, OPERATIONAL_VALUE, Source
from aw_graders.config.executable import Executable, ExecutableManifest
from aw_graders.config.manifest import (
    MANIFEST_VERSION,
    ManifestError,
    read_settings_row,
    settings_row,
)
from aw_graders.diagnostics import quoted

_OWN: Final = ("source", "digest", "code")
_SOURCES: Final = (INLINE, OPERATIONAL_VALUE)


def frozen_document(manifest: ExecutableManifest) -> dict[str, Any]:
    """Write custom graders with their code, in their order.

    Returns: plain data for JSON; `code` is base64.
    Source: Graders Specification 0.5.0, section 5.
    """
    return {
        "version": MANIFEST_VERSION,
        "graders": [
            {**described(grader), "code": base64.b64encode(grader.code).decode("ascii")}
            for grader in manifest.graders
        ],
    }


def described(grader: Executable) -> dict[str, Any]:
    """Write what is known of a custom grader besides its code."""
    return {**settings_row(grader.settings, grader.source), "digest": grader.digest}


def read_frozen(document: JsonValue) -> ExecutableManifest:
    """Read what `frozen_document` wrote.

    Raises: ManifestError that names the first thing that is not as it was written: a field too many
        or too few, a wrong type, code that does not have its digest, an id twice.
    """
    if not isinstance(document, Mapping) or set(document) != {"version", "graders"}:
        msg = 'an executable manifest is an object of "version" and "graders"'
        raise ManifestError(msg)
    version, rows = document["version"], document["graders"]
    if isinstance(version, bool) or version != MANIFEST_VERSION:
        msg = f'"version" of an executable manifest is {MANIFEST_VERSION}'
        raise ManifestError(msg)
    if not isinstance(rows, list | tuple):
        msg = '"graders" of an executable manifest is an array'
        raise ManifestError(msg)
    graders = tuple(_read(f"graders[{number}]", row) for number, row in enumerate(rows))
    ids = [grader.id for grader in graders]
    if ids != sorted(set(ids)):
        msg = "the graders of an executable manifest stand once each, in the order of their ids"
        raise ManifestError(msg)
    return ExecutableManifest(graders)


def _read(place: str, row: JsonValue) -> Executable:
    if not isinstance(row, Mapping):
        msg = f"{place} is an object"
        raise ManifestError(msg)
    for name in _OWN:
        if not isinstance(row.get(name), str):
            msg = f'"{name}" of {place} is missing or no text'
            raise ManifestError(msg)
    settings = read_settings_row(place, {k: v for k, v in row.items() if k not in _OWN})
    is_evaluator = settings.id == OPERATIONAL_VALUE
    if ID.fullmatch(settings.id) is None or row["source"] != _SOURCES[is_evaluator]:
        msg = f"{place}: {quoted(settings.id)} is no id of a custom grader of that source"
        raise ManifestError(msg)
    code = _code(place, cast("str", row["code"]))
    digest = hashlib.sha256(code).hexdigest()
    if digest != row["digest"]:
        msg = f"{place}: the code of grader {quoted(settings.id)} does not have its digest"
        raise ManifestError(msg)
    return Executable(settings, cast("Source", row["source"]), code, digest)


def _code(place: str, encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as failure:
        msg = f'"code" of {place} is no base64'
        raise ManifestError(msg) from failure
