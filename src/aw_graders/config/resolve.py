"""The `graders:` map, checked against the registry and resolved to the settings of a run."""

from collections.abc import Iterable, Mapping
from typing import Final, cast

import msgspec

from aw_graders._json import JsonValue, freeze
from aw_graders.config.custom import ID, OPERATIONAL_VALUE
from aw_graders.config.fields import CODE_FIELDS, Given, read_fields, settings_fields
from aw_graders.config.ids import with_trimmed_ids
from aw_graders.config.nodes import (
    Entry,
    InvalidNode,
    MapNode,
    Node,
    ScalarNode,
    is_null,
    kind_of,
)
from aw_graders.config.positions import Positions, Report
from aw_graders.config.ranges import check_range
from aw_graders.config.reader import read
from aw_graders.diagnostics import Diagnostic, closest, did_you_mean, quoted
from aw_graders.graders.engine import settings_of
from aw_graders.graders.model import GraderSpec
from aw_graders.graders.registry import BUILT_IN
from aw_graders.graders.settings import GraderSettings

_WRAPPER: Final = "graders"


def check(
    source: str, path: str, registry: Mapping[str, GraderSpec] = BUILT_IN
) -> tuple[tuple[GraderSettings, ...], list[Diagnostic]]:
    """Read the graders that a file asks for.

    Takes: YAML 1.2 or JSON text that is a map of grader ids, or a map with the one key `graders`;
        `path` is only shown. Nothing, null and `{}` ask for the defaults.
    Returns: the settings as `resolve` orders them, none when a diagnostic is an error; and every
        diagnostic of the file, in the order of the places.
    Raises: nothing.
    Source: Graders Specification 0.5.0, section 3.
    """
    report = Report(Positions(path, source))
    root = read(source, report)
    graders = with_trimmed_ids(MapNode((0, 0), _entries(root, report)), report)
    checked = [_settings(entry, registry, report) for entry in graders.entries]
    given = [item for item in checked if item is not None]
    settings = () if report.has_errors() else resolve(given, registry)
    return settings, report.sorted()


def resolve(
    given: Iterable[GraderSettings], registry: Mapping[str, GraderSpec] = BUILT_IN
) -> tuple[GraderSettings, ...]:
    """Add the defaults to the graders that were listed, and put all in their order.

    Takes: settings of built-ins, each id once.
    Returns: enabled defaults, then other enabled built-ins, both in registry order; then the
        disabled ones by id, so that what was switched off stays on record.
    Raises: KeyError for an id that is not in `registry`.
    """
    chosen = {spec.id: settings_of(spec) for spec in registry.values() if spec.default}
    chosen.update((settings.id, settings) for settings in given)
    place = {id_: index for index, id_ in enumerate(registry)}
    enabled = [settings for settings in chosen.values() if settings.enabled]
    disabled = [settings for settings in chosen.values() if not settings.enabled]
    enabled.sort(key=lambda item: (not registry[item.id].default, place[item.id]))
    disabled.sort(key=lambda item: item.id)
    return (*enabled, *disabled)


def _entries(root: Node | None, report: Report) -> tuple[Entry, ...]:
    """Return the entries of the map of ids, wherever it stands."""
    if not isinstance(root, MapNode):
        return _map_entries(root, "the file", report)
    wrapped = [entry for entry in root.entries if entry.key == _WRAPPER]
    if not wrapped:
        return root.entries
    for entry in root.entries:
        if entry.key != _WRAPPER:
            message = f'beside "{_WRAPPER}" there is no other key, got {quoted(entry.key)}'
            hint = f'move it under "{_WRAPPER}", or remove it'
            report.add("config-extra-key", message, entry.key_span, hint)
    return _map_entries(wrapped[0].value, f'"{_WRAPPER}"', report)


def _map_entries(node: Node | None, name: str, report: Report) -> tuple[Entry, ...]:
    if isinstance(node, MapNode):
        return node.entries
    if node is not None and not is_null(node) and not isinstance(node, InvalidNode):
        message = f"{name} is a map of grader ids, got {kind_of(node)}"
        report.add("config-wrong-type", message, node.span)
    return ()


def _settings(
    entry: Entry, registry: Mapping[str, GraderSpec], report: Report
) -> GraderSettings | None:
    """Check one grader; None when it is not one that can be set here."""
    spec = registry.get(entry.key)
    if spec is not None:
        return read_built_in(entry, spec, report)
    fields = fields_of(entry, None)
    _refuse(entry, fields, registry, report)
    if fields is not None:
        read_fields(entry.key, fields, report)
    return None


def read_built_in(entry: Entry, spec: GraderSpec, report: Report) -> GraderSettings | None:
    """Check what is set of one built-in, whether it is enabled or not.

    Returns: its settings with those of the registry under them, None when it is no map of fields.
    Raises: nothing; every fault is in `report`.
    """
    fields = fields_of(entry, report)
    if fields is None:
        return None
    for field in fields.entries:
        if field.key in CODE_FIELDS:
            message = f"the built-in grader {quoted(entry.key)} takes no {quoted(field.key)}"
            hint = "remove it, or give a grader of your own another id"
            report.add("config-built-in-override", message, field.key_span, hint)
    given = read_fields(entry.key, fields, report)
    check_range(entry.key, given, report, spec)
    _warn(spec, given, report)
    return _merged(spec, given)


def fields_of(entry: Entry, report: Report | None) -> MapNode | None:
    """Return the map of fields under an id: null is an empty one, anything else is reported."""
    node = entry.value
    if isinstance(node, MapNode):
        return node
    if is_null(node):
        return MapNode(node.span, ())
    if report is not None and not isinstance(node, InvalidNode):
        hint = (
            "write {enabled: false} to switch it off"
            if _is_false(node)
            else "use {} for its defaults"
        )
        message = f"grader {quoted(entry.key)} is a map of fields, got {kind_of(node)}"
        report.add("config-wrong-type", message, node.span, hint)
    return None


def _is_false(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is False


def _refuse(
    entry: Entry, fields: MapNode | None, registry: Mapping[str, GraderSpec], report: Report
) -> None:
    """Say why an id that is no built-in cannot be used."""
    has_script = fields is not None and any(item.key == "script" for item in fields.entries)
    if entry.key == OPERATIONAL_VALUE or has_script:
        message = "custom graders come with a workflow, not with --config"
        hint = f"declare {quoted(entry.key)} in a workflow, or remove it here"
        report.add("config-custom-unsupported", message, entry.key_span, hint)
        return
    hint_text = did_you_mean(entry.key, registry)
    if closest(entry.key, registry) is None and not ID.fullmatch(entry.key):
        hint_text = 'an id has lower-case letters, digits and "-"; see aw graders list'
    message = f"no grader is called {quoted(entry.key)}"
    report.add("config-unknown-grader", message, entry.key_span, hint_text)


def _warn(spec: GraderSpec, given: Given, report: Report) -> None:
    """Warn of what is accepted and does nothing."""
    unit = given.places.get("unit")
    if unit is not None:
        message = f'"unit" of grader {quoted(spec.id)} is a label: nothing is converted'
        hint = f'the value stays in "{spec.unit}"'
        report.add("config-unit-is-a-label", message, unit.key_span, hint, "warning")
    config = given.places.get("config")
    if config is None or not isinstance(config.value, MapNode):
        return
    for entry in config.value.entries:
        if entry.key not in spec.config_keys:
            message = f'"config" of grader {quoted(spec.id)} knows no key {quoted(entry.key)}'
            hint = did_you_mean(entry.key, spec.config_keys) or "remove it: it takes no key"
            report.add("config-unknown-config-key", message, entry.key_span, hint, "warning")
    for problem in _config_problems(spec, given):
        message = f'"config" of grader {quoted(spec.id)}: {problem}'
        report.add(
            "config-unusable-value", message, config.key_span, "see aw graders explain " + spec.id
        )


def _config_problems(spec: GraderSpec, given: Given) -> list[str]:
    """Ask the grader itself whether it could work with its configuration."""
    values = given.values.get("config")
    if spec.check_config is None or not isinstance(values, Mapping):
        return []
    return spec.check_config(cast("Mapping[str, JsonValue]", freeze(values)))


def _merged(spec: GraderSpec, given: Given) -> GraderSettings:
    """Put the fields that were set over those of the registry; null removes a threshold."""
    # The types were checked field by field.
    changes = cast("dict[str, object]", settings_fields(given))
    return msgspec.structs.replace(settings_of(spec), **changes)
