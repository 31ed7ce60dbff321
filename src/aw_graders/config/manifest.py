"""The manifest: the settings of a run as data, written beside its results and read for replay.

It has no field that could hold code. Of a custom grader it says that there is one, and no more.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from aw_graders._json import JsonValue, freeze, thaw
from aw_graders.config.custom import ID
from aw_graders.config.fields import DIRECTIONS
from aw_graders.config.scalars import MAX_EXACT_INTEGER
from aw_graders.diagnostics import quoted
from aw_graders.graders.model import GraderSpec
from aw_graders.graders.registry import BUILT_IN
from aw_graders.graders.settings import GraderSettings

# Graders Specification 0.5.0, section 5.
MANIFEST_VERSION: Final = 2
_SOURCE: Final = "builtin"
_FIELDS: Final = (
    "id", "name", "description", "enabled", "unit", "direction",
    "threshold", "min", "max", "config",
)  # fmt: skip
_REQUIRED: Final = ("id", "name", "enabled", "unit", "direction")
_WRITTEN: Final = (*_REQUIRED, "source")
_TEXTS: Final = ("name", "description", "unit", "direction")
_NUMBERS: Final = ("threshold", "min", "max")


# Decision 54: what conclusion knows of a custom grader.
_CUSTOM_FIELDS: Final = ("id", "source", "enabled", "digest")
_CUSTOM_SOURCES: Final = ("inline", "operational-value")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class ManifestError(ValueError):
    """A manifest that holds something other than the data of settings."""


class CustomGrader(msgspec.Struct, frozen=True):
    """A custom grader as conclusion knows it: registered, by the SHA-256 digest of its source."""

    id: str
    source: str
    enabled: bool
    digest: str


class Manifest(msgspec.Struct, frozen=True):
    """The settings of the built-ins and the registered custom graders, each in written order."""

    settings: tuple[GraderSettings, ...]
    custom: tuple[CustomGrader, ...] = ()


def manifest_document(
    settings: Iterable[GraderSettings], custom: Iterable[CustomGrader] = ()
) -> dict[str, Any]:
    """Write settings as a manifest, in their order, custom graders behind them.

    Takes: settings as `resolve` returns them, disabled ones too.
    Returns: plain data for JSON; `unit` and `direction` are always there, null for none.
    Raises: nothing.
    Source: Graders Specification 0.5.0, section 5.
    """
    rows = [settings_row(item, _SOURCE) for item in settings]
    registered = [msgspec.structs.asdict(item) for item in custom]
    return {"version": MANIFEST_VERSION, "graders": rows + registered}


def read_manifest(document: JsonValue, registry: Mapping[str, GraderSpec] = BUILT_IN) -> Manifest:
    """Read a manifest that `manifest_document` wrote.

    Takes: a decoded JSON document.
    Returns: the same settings in the same order; what was disabled stays disabled.
    Raises: ManifestError that names the first field which is not data of settings, is missing, or
        has the wrong type; and for another version or an id that is no built-in.
    """
    settings: list[GraderSettings] = []
    custom: list[CustomGrader] = []
    seen: set[str] = set()
    for number, item in enumerate(_graders(document)):
        place = f"graders[{number}]"
        if isinstance(item, Mapping) and _is_custom(item, registry):
            custom.append(_read_custom(place, item))
            id_ = custom[-1].id
        else:
            settings.append(_read(place, item, registry))
            id_ = settings[-1].id
        if id_ in seen:
            msg = f"grader {quoted(id_)} is listed twice"
            raise ManifestError(msg)
        seen.add(id_)
    return Manifest(tuple(settings), tuple(custom))


def _is_custom(item: Mapping[str, JsonValue], registry: Mapping[str, GraderSpec]) -> bool:
    id_ = item.get("id")
    return item.get("source") in _CUSTOM_SOURCES and isinstance(id_, str) and id_ not in registry


def _read_custom(place: str, item: Mapping[str, JsonValue]) -> CustomGrader:
    for name in item:
        if name not in _CUSTOM_FIELDS:
            msg = f"{place} is a custom grader and has no field {quoted(name)}"
            raise ManifestError(msg)
    for name in _CUSTOM_FIELDS:
        if name not in item:
            msg = f'{place} lacks the field "{name}"'
            raise ManifestError(msg)
    id_, digest, enabled = item["id"], item["digest"], item["enabled"]
    rules = (
        ("id", isinstance(id_, str) and ID.fullmatch(id_) is not None),
        ("enabled", isinstance(enabled, bool)),
        ("digest", isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None),
    )
    for name, is_right in rules:
        if not is_right:
            msg = f'"{name}" of {place} has a wrong type or value'
            raise ManifestError(msg)
    return CustomGrader(
        cast("str", id_), cast("str", item["source"]), cast("bool", enabled), cast("str", digest)
    )


def settings_row(settings: GraderSettings, source: str) -> dict[str, Any]:
    """Write the settings of one grader; `unit` and `direction` are always there, null for none."""
    row: dict[str, Any] = {
        "id": settings.id,
        "name": settings.name or settings.id,
        "description": settings.description,
        "source": source,
        "enabled": settings.enabled,
        "unit": settings.unit,
        "direction": settings.direction,
        "threshold": settings.threshold,
        "min": settings.minimum,
        "max": settings.maximum,
        "config": thaw(settings.config) or None,
    }
    return {name: value for name, value in row.items() if name in _WRITTEN or value is not None}


def _graders(document: JsonValue) -> Sequence[JsonValue]:
    if not isinstance(document, Mapping):
        msg = "a manifest is an object"
        raise ManifestError(msg)
    for name in document:
        if name not in {"version", "graders"}:
            msg = f"a manifest has no field {quoted(name)}"
            raise ManifestError(msg)
    version = document.get("version")
    if isinstance(version, bool) or version != MANIFEST_VERSION:
        msg = f'"version" of a manifest is {MANIFEST_VERSION}'
        raise ManifestError(msg)
    graders = document.get("graders")
    if not isinstance(graders, list | tuple):
        msg = '"graders" of a manifest is an array'
        raise ManifestError(msg)
    return cast("Sequence[JsonValue]", graders)


def _read(place: str, item: JsonValue, registry: Mapping[str, GraderSpec]) -> GraderSettings:
    if not isinstance(item, Mapping):
        msg = f"{place} is an object"
        raise ManifestError(msg)
    settings = read_settings_row(place, {k: v for k, v in item.items() if k != "source"})
    if "source" not in item:
        msg = f'{place} lacks the field "source"'
        raise ManifestError(msg)
    if item["source"] != _SOURCE:
        msg = f'"source" of {place} has a wrong type or value'
        raise ManifestError(msg)
    if settings.id not in registry:
        msg = f"{place}: no grader is called {quoted(settings.id)}"
        raise ManifestError(msg)
    return settings


def read_settings_row(place: str, item: Mapping[str, JsonValue]) -> GraderSettings:
    """Read the settings of one grader, whatever its source.

    Takes: how to call the row in a message; the row without `source`.
    Raises: ManifestError as `read_manifest` does.
    """
    for name in item:
        if name not in _FIELDS:
            msg = f"{place} has no field {quoted(name)}"
            raise ManifestError(msg)
    for name in _REQUIRED:
        if name not in item:
            msg = f'{place} lacks the field "{name}"'
            raise ManifestError(msg)
    for name, value in item.items():
        if not _is_right(name, value):
            msg = f'"{name}" of {place} has a wrong type or value'
            raise ManifestError(msg)
    return _settings(cast("Mapping[str, JsonValue]", freeze(thaw(item))))


def _is_right(name: str, value: JsonValue) -> bool:
    if name in _NUMBERS:
        return _is_number(value)
    if name == "enabled":
        return isinstance(value, bool)
    if name == "config":
        return isinstance(value, Mapping)
    if name == "direction":
        return value is None or value in DIRECTIONS
    is_null = value is None and name == "unit"
    return is_null or (isinstance(value, str) and bool(value.strip()))


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer and abs(cast("int", value)) <= MAX_EXACT_INTEGER


def _settings(row: Mapping[str, JsonValue]) -> GraderSettings:
    texts = {name: cast("str | None", row.get(name)) for name in _TEXTS}
    numbers = {name: cast("float | None", row.get(name)) for name in _NUMBERS}
    return GraderSettings(
        id=cast("str", row["id"]),
        enabled=cast("bool", row["enabled"]),
        name=texts["name"],
        description=texts["description"],
        unit=texts["unit"],
        direction=texts["direction"],
        threshold=numbers["threshold"],
        minimum=numbers["min"],
        maximum=numbers["max"],
        config=cast("Mapping[str, JsonValue]", row.get("config", {})),
    )
