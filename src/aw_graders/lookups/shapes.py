"""Which of the names that writers use for one thing stand in an object, found once per key list.

Events of one writer have the same keys in the same order over and over, so the search among the
names is done once for each list of keys and remembered.
"""

from collections.abc import Collection
from typing import Any, Final

from aw_graders.session import events as names

# How many key lists are remembered, and how long one may be: hostile sessions have endless ones.
_MAX_SHAPES: Final = 1000
_MAX_KEYS: Final = 40
_CORRELATION: Final = frozenset({"sessionId", "session_id", "agentId", *names.PARENT_TOOL_ID})
_OUTCOME: Final = frozenset({"status", "error", "isError", "is_error", "exitCode", "exit_code"})
_RARE_COUNTS: Final = frozenset(
    {
        *names.TOTAL_TOKENS,
        *names.CACHE_READ_TOKENS,
        *names.CACHE_CREATION_TOKENS,
        *names.INPUT_INCLUDES_CACHE,
    }
)


class _Absent:
    """The key under which nothing is ever found."""

    __slots__ = ()


ABSENT: Final = _Absent()


class Shape:
    """For each thing, the key to read it under: the first of its names that is present.

    A key is `ABSENT` when no name is present, so that reading it gives None. `is_correlated` says
    that an owner may be named, `says_outcome` that more than `success` tells how a call ended, and
    `counts_more` that tokens other than input and output are counted.
    """

    __slots__ = (
        "cache_creation",
        "cache_read",
        "call_id",
        "counts_more",
        "duration",
        "includes_cache",
        "input",
        "input_tokens",
        "is_correlated",
        "name",
        "output_tokens",
        "request_id",
        "retry_event",
        "says_outcome",
        "server",
        "total_tokens",
    )

    def __init__(self, keys: Collection[str]) -> None:
        """Look for every name among `keys`."""

        def present(aliases: tuple[str, ...]) -> Any:
            return next((alias for alias in aliases if alias in keys), ABSENT)

        self.call_id = present(names.TOOL_CALL_ID)
        self.name = present(names.TOOL_NAME)
        self.input = present(names.TOOL_INPUT)
        self.duration = present(names.DURATION_MS)
        self.server = present(names.SERVER_NAME)
        self.request_id = present(names.REQUEST_ID)
        self.retry_event = present(names.RETRY_EVENT)
        self.input_tokens = present(names.INPUT_TOKENS)
        self.output_tokens = present(names.OUTPUT_TOKENS)
        self.total_tokens = present(names.TOTAL_TOKENS)
        self.cache_read = present(names.CACHE_READ_TOKENS)
        self.cache_creation = present(names.CACHE_CREATION_TOKENS)
        self.includes_cache = present(names.INPUT_INCLUDES_CACHE)
        self.says_outcome = not _OUTCOME.isdisjoint(keys)
        self.counts_more = not _RARE_COUNTS.isdisjoint(keys)
        self.is_correlated = not _CORRELATION.isdisjoint(keys)


class Shapes(dict[tuple[str, ...], Shape]):
    """Shapes by key list; a list that is met for the first time is settled and remembered."""

    def __missing__(self, keys: tuple[str, ...]) -> Shape:
        """Settle a key list."""
        shape = Shape(keys)
        if len(self) < _MAX_SHAPES and len(keys) <= _MAX_KEYS:
            self[keys] = shape
        return shape
