"""The manifest: the settings of a run as data, written beside its results and read for replay."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from aw_graders._json import JsonValue, freeze, thaw
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
    "id", "name", "description", "source", "enabled", "unit", "direction",
    "threshold", "min", "max", "config",
)  # fmt: skip
_REQUIRED: Final = ("id", "name", "source", "enabled", "unit", "direction")
_TEXTS: Final = ("name", "description", "unit", "direction")
_NUMBERS: Final = ("threshold", "min", "max")


class ManifestError(ValueError):
    """A manifest that holds something other than the data of settings."""


def manifest_document(settings: Iterable[GraderSettings]) -> dict[str, object]:
    """Write settings as a manifest, in their order.

    Takes: settings as `resolve` returns them, disabled ones too.
    Returns: plain data for JSON; `unit` and `direction` are always there, null for none.
    Raises: nothing.
    Source: Graders Specification 0.5.0, section 5.
    """
    return {"version": MANIFEST_VERSION, "graders": [_written(item) for item in settings]}


def settings_from_manifest(
    document: JsonValue, registry: Mapping[str, GraderSpec] = BUILT_IN
) -> tuple[GraderSettings, ...]:
    """Read the settings that `manifest_document` wrote.

    Takes: a decoded JSON document.
    Returns: the same settings in the same order; what was disabled stays disabled.
    Raises: ManifestError that names the first field which is not data of settings, is missing, or
        has the wrong type; and for another version or an id that is no built-in.
    """
    graders = _graders(document)
    settings = tuple(_read(f"graders[{n}]", item, registry) for n, item in enumerate(graders))
    seen: set[str] = set()
    for item in settings:
        if item.id in seen:
            msg = f"grader {quoted(item.id)} is listed twice"
            raise ManifestError(msg)
        seen.add(item.id)
    return settings


def _written(settings: GraderSettings) -> dict[str, object]:
    row: dict[str, object] = {
        "id": settings.id,
        "name": settings.name or settings.id,
        "description": settings.description,
        "source": _SOURCE,
        "enabled": settings.enabled,
        "unit": settings.unit,
        "direction": settings.direction,
        "threshold": settings.threshold,
        "min": settings.minimum,
        "max": settings.maximum,
        "config": thaw(settings.config) or None,
    }
    return {name: value for name, value in row.items() if name in _REQUIRED or value is not None}


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
    if item["id"] not in registry:
        msg = f"{place}: no grader is called {quoted(str(item['id']))}"
        raise ManifestError(msg)
    return _settings(cast("Mapping[str, JsonValue]", freeze(thaw(item))))


def _is_right(name: str, value: JsonValue) -> bool:
    if name in _NUMBERS:
        return _is_number(value)
    if name == "source":
        return value == _SOURCE
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
