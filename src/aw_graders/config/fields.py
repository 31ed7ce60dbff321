"""The fields of one grader: which exist, and what each may hold. They carry data only."""

from typing import Final

import msgspec

from aw_graders._json import JsonValue, freeze
from aw_graders.config.nodes import (
    Entry,
    InvalidNode,
    MapNode,
    Node,
    ScalarNode,
    data_of,
    kind_of,
)
from aw_graders.config.positions import Report
from aw_graders.diagnostics import did_you_mean, quoted
from aw_graders.graders.model import HIGHER, LOWER

# Graders Specification 0.5.0, section 3.
FIELDS: Final = (
    "enabled", "name", "description", "unit", "direction", "threshold", "min", "max", "config",
)  # fmt: skip
CODE_FIELDS: Final = frozenset({"script", "run"})
# Words that are truth values to other readers, and text to YAML 1.2.
_NO: Final = frozenset({"off", "no", "n", "false", "0"})
_YES: Final = frozenset({"on", "yes", "y", "true", "1"})
# The names of the settings that the fields of a file set.
_SETTING: Final = {"min": "minimum", "max": "maximum"}
DIRECTIONS: Final = (HIGHER, LOWER)


class Given(msgspec.Struct, frozen=True):
    """The fields that a person set, by name, each of the right type."""

    values: dict[str, JsonValue]
    places: dict[str, Entry]


def read_fields(id_: str, node: MapNode, report: Report, code_field: str | None = None) -> Given:
    """Check the fields of one grader, whether it is enabled or not.

    Takes: the map under the id; `script` and `run` are left to the caller, `code_field` is the one
        of them that the grader may have.
    Returns: the fields that are right; the others have their diagnostics in `report`.
    Raises: nothing.
    """
    allowed = FIELDS if code_field is None else (*FIELDS, code_field)
    values: dict[str, JsonValue] = {}
    places: dict[str, Entry] = {}
    for entry in node.entries:
        if entry.key in CODE_FIELDS:
            continue
        if entry.key not in FIELDS:
            message = f"grader {quoted(id_)} has no field {quoted(entry.key)}"
            hint = did_you_mean(entry.key, allowed)
            report.add("config-unknown-field", message, entry.key_span, hint)
        elif _is_right(entry, report):
            values[entry.key] = data_of(entry.value)
            places[entry.key] = entry
    return Given(values, places)


def settings_fields(given: Given) -> dict[str, JsonValue]:
    """Return what was set under the names that `GraderSettings` has, frozen."""
    return {_SETTING.get(name, name): freeze(value) for name, value in given.values.items()}


def _is_right(entry: Entry, report: Report) -> bool:
    if isinstance(entry.value, InvalidNode):
        return False
    problem, hint = _problem(entry.key, entry.value)
    if problem is None:
        return True
    message = f'"{entry.key}" is {problem}, got {kind_of(entry.value)}'
    report.add("config-wrong-type", message, entry.value.span, hint)
    return False


def _problem(field: str, node: Node) -> tuple[str | None, str | None]:
    """Return what `field` has to be when `node` is not, and a hint."""
    value = node.value if isinstance(node, ScalarNode) else node
    if field == "enabled":
        return (None, None) if isinstance(value, bool) else ("true or false", _truth_hint(value))
    if field in {"name", "description", "unit"}:
        is_right = isinstance(value, str) and bool(value.strip())
        return (None, None) if is_right else ("text that is not empty", None)
    if field == "direction":
        hint = did_you_mean(value, DIRECTIONS) if isinstance(value, str) else None
        right = f'"{HIGHER}" or "{LOWER}"'
        return (None, None) if value in DIRECTIONS else (right, hint)
    if field == "config":
        return (None, None) if isinstance(node, MapNode) else ("a map", None)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if field == "threshold":
        is_right = is_number or value is None
        return (None, None) if is_right else ("a number, or null for none", None)
    return (None, None) if is_number else ("a number", "leave it out for none")


def _truth_hint(value: object) -> str | None:
    word = str(value).lower()
    if word in _NO:
        return "write false, without quotes"
    return "write true, without quotes" if word in _YES else None
