"""JSON Schema of what a workflow's frontmatter says about graders, for editors."""

from collections.abc import Iterable
from typing import Any, Final

from aw_graders.config.custom import ID, OPERATIONAL_VALUE
from aw_graders.config.fields import DIRECTIONS
from aw_graders.graders.model import GraderSpec
from aw_graders.graders.registry import BUILT_IN

_TEXT: Final = {"type": "string", "pattern": r"\S"}
_NUMBER: Final = {"type": "number"}
# Relative, no part `.` or `..`, no empty part, no backslash, a Bash file.
_RUN: Final = r"^(\./)?(?!\.{1,2}/)[^/\\]+(/(?!\.{1,2}/)[^/\\]+)*\.sh$"
_COMMON: Final[dict[str, Any]] = {
    "enabled": {"type": "boolean", "description": "false takes the grader away."},
    "name": {**_TEXT, "description": "What a report calls it."},
    "description": {**_TEXT, "description": "What the number means."},
    "unit": {**_TEXT, "description": "A label; nothing is converted."},
    "direction": {"enum": list(DIRECTIONS), "description": "Which side is better."},
    "threshold": {"type": ["number", "null"], "description": "Judges a value; null for none."},
    "min": {**_NUMBER, "description": "The least that the value can be; nothing is cut off."},
    "max": {**_NUMBER, "description": "The most that the value can be; nothing is cut off."},
    "config": {"type": "object", "description": "Data for the grader, as in JSON."},
}


def frontmatter_schema(registry: Iterable[GraderSpec] = tuple(BUILT_IN.values())) -> dict[str, Any]:
    """Return the schema of a workflow's settings, as far as they concern graders.

    An editor sees one file at a time: what an import may bring, a script say, is not required.
    """
    built_in = {spec.id: _built_in(spec) for spec in registry}
    evaluator = _fields(
        {"run": {"type": "string", "pattern": _RUN, "description": "A Bash file."}},
        "How much operational value the run had, by a Bash file of the repository.",
    )
    custom = _fields(
        {"script": {**_TEXT, "description": "JavaScript that returns a number or null."}},
        "A grader of your own.",
    )
    return {
        "type": "object",
        "$defs": _COMMON,
        "properties": {
            "graders": {
                "type": ["object", "null"],
                "description": "Graders by id; the ten defaults stay on unless disabled.",
                "propertyNames": {"pattern": f"^{ID.pattern}$"},
                "properties": {**built_in, OPERATIONAL_VALUE: evaluator},
                "additionalProperties": custom,
            },
        },
    }


def _fields(more: dict[str, Any], description: str) -> dict[str, Any]:
    return {
        "type": ["object", "null"],
        "description": description,
        "properties": {**{name: {"$ref": f"#/$defs/{name}"} for name in _COMMON}, **more},
        "additionalProperties": False,
    }


def _built_in(spec: GraderSpec) -> dict[str, Any]:
    schema = _fields({}, spec.description)
    if spec.config_keys:
        keys = dict.fromkeys(spec.config_keys, True)
        schema["properties"]["config"] = {"$ref": "#/$defs/config", "properties": keys}
    return schema
