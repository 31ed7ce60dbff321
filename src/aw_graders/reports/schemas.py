"""JSON Schemas (draft 2020-12) of what is read and written."""

from typing import Any, Final

from aw_graders.config.schema import frontmatter_schema
from aw_graders.reports.lookups_schema import lookups_schema
from aw_graders.session.limits import MAX_SAFE_INTEGER

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final = {"type": "string"}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_NUMBER_OR_NULL: Final = {"type": ["number", "null"]}
_COUNT: Final = {"type": "integer", "minimum": 0}
_DIRECTION: Final = {"enum": ["higher_is_better", "lower_is_better", None]}

_PROVENANCE: Final = {
    "type": "object",
    "required": ["component", "phase", "path", "index"],
    "properties": {
        "component": _TEXT,
        "phase": _TEXT,
        "path": {"type": "string", "minLength": 1},
        "index": {"type": "integer", "minimum": 0, "maximum": MAX_SAFE_INTEGER},
        "timestampMs": {"type": "number"},
        "native": True,
    },
    "additionalProperties": False,
}
_EVENT: Final = {
    "type": "object",
    "required": ["type", "data", "provenance"],
    "properties": {
        "type": {"type": "string", "pattern": r"\."},
        "data": {"type": "object"},
        "provenance": _PROVENANCE,
        "id": _TEXT,
        "parentId": _TEXT_OR_NULL,
        "timestamp": {"type": ["string", "number"]},
        "agentId": True,
        "ephemeral": True,
    },
}
_EVIDENCE: Final = {
    "type": "object",
    "required": ["count", "places"],
    "properties": {
        "count": _COUNT,
        "places": {
            "type": "array",
            "maxItems": 20,
            "items": {
                "type": "object",
                "required": ["path", "index"],
                "properties": {"path": _TEXT, "index": _COUNT},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
_RESULT: Final = {
    "type": "object",
    "required": ["id", "name", "value", "unit", "passed", "status", "source", "implementation"],
    "properties": {
        "id": _TEXT,
        "name": _TEXT,
        "description": _TEXT,
        "value": _NUMBER_OR_NULL,
        "unit": _TEXT_OR_NULL,
        "passed": {"type": ["boolean", "null"]},
        "status": {"enum": ["pass", "fail", "unavailable", "error"]},
        "direction": _DIRECTION,
        "threshold": _NUMBER_OR_NULL,
        "source": {"enum": ["builtin", "inline", "operational-value"]},
        "implementation": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": _TEXT, "version": {"type": "integer"}, "digest": _TEXT},
            "additionalProperties": False,
        },
        "reason": _TEXT,
        "message": _TEXT,
        "details": _TEXT,
        "error": _TEXT,
        "metrics": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["id", "value"],
                "properties": {
                    "id": {"type": "string", "pattern": r"\S"},
                    "value": _NUMBER_OR_NULL,
                },
                "additionalProperties": False,
            },
        },
        "diagnostics": {"type": "object"},
        "evidence": _EVIDENCE,
    },
    "additionalProperties": False,
}
_RUN: Final = {
    "type": "object",
    "required": ["graderCount", "passed", "failed", "errors", "unavailable", "judged"],
    "properties": {
        "id": _TEXT,
        "attempt": {"type": ["integer", "string"]},
        **dict.fromkeys(
            ("graderCount", "passed", "failed", "errors", "unavailable", "judged"), _COUNT
        ),
    },
    "additionalProperties": False,
}
_MANIFEST_ENTRY: Final = {
    "type": "object",
    "required": ["id", "source", "enabled"],
    "properties": {
        "id": _TEXT,
        "name": _TEXT,
        "description": _TEXT,
        "source": {"enum": ["builtin", "inline", "operational-value"]},
        "enabled": {"type": "boolean"},
        "unit": _TEXT_OR_NULL,
        "direction": _DIRECTION,
        "threshold": _NUMBER_OR_NULL,
        "min": _NUMBER_OR_NULL,
        "max": _NUMBER_OR_NULL,
        "config": {"type": "object"},
        "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
    "additionalProperties": False,
}


def _document(title: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": _DIALECT, "title": title, **body}


SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "frontmatter": _document("Graders in the frontmatter of a workflow", frontmatter_schema()),
    "lookups": _document("What createSessionLookups gives a script", lookups_schema()),
    "session": _document(
        "Unified session, as a JSON array of events", {"type": "array", "items": _EVENT}
    ),
    "manifest": _document(
        "grader_manifest.json",
        {
            "type": "object",
            "required": ["version", "graders"],
            "properties": {
                "version": {"const": 2},
                "graders": {"type": "array", "items": _MANIFEST_ENTRY},
            },
            "additionalProperties": False,
        },
    ),
    "results": _document(
        "grader_results.json",
        {
            "type": "object",
            "required": ["version", "run", "partial", "results"],
            "properties": {
                "version": {"const": 2},
                "run": _RUN,
                "context": {"type": "object"},
                "partial": {"type": "boolean"},
                "results": {"type": "array", "items": _RESULT},
            },
            "additionalProperties": False,
        },
    ),
}
