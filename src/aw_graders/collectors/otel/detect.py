"""Telling exported traces of an agent from everything else."""

import re
from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import is_mapping, list_of
from aw_graders.collectors.otel.spans import JAEGER_ROWS, is_jaeger_trace, resources_of
from aw_graders.collectors.records import sample

_HEAD_BYTES: Final = 64 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_GEN_AI: Final = b"gen_ai."
# Keys that one of the accepted exports must hold, so that anything else costs one search.
_KEYS: Final = re.compile(
    rb'"(?:resourceSpans|resource_spans|scopeSpans|instrumentationLibrarySpans|operationName)"'
)
_OPENING: Final = re.compile(
    rb'[\s\0]*(?:\[\s*)?\{\s*"(?:resourceSpans|resource_spans|batches)"\s*:\s*\[\s*\{'
    rb'\s*"(?:resource|scopeSpans|scope_spans|instrumentationLibrarySpans)"'
)


def detect(content: bytes) -> bool:
    """Tell whether `content` holds traces with GenAI attributes. Raises nothing.

    Cost: a search, and for what does not begin as an export, one reading.
    """
    if _GEN_AI not in content or _KEYS.search(content) is None:
        return False
    head = content[:_HEAD_BYTES].removeprefix(_BOM)
    return _OPENING.match(head) is not None or sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    if any(is_mapping(item) and _has_scopes(item) for item in resources_of(row)):
        return True
    return any(map(is_jaeger_trace, list_of(row.get(JAEGER_ROWS))))


def _has_scopes(item: Mapping[str, Any]) -> bool:
    names = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
    return any(isinstance(item.get(name), list) for name in names)
