"""Every collector there is, and which one takes a content."""

from typing import Final

from aw_graders.collectors import (
    atif,
    claude,
    codex,
    copilot,
    droid,
    gemini,
    inspect_ai,
    opencode,
    openhands,
    otel,
    pi,
    swe_agent,
)
from aw_graders.collectors.base import Collector

# Droid's stream begins with a row that Claude Code's could begin with, too.
COLLECTORS: Final[tuple[Collector, ...]] = (
    inspect_ai.COLLECTOR,
    droid.COLLECTOR,
    gemini.COLLECTOR,
    opencode.COLLECTOR,
    pi.COLLECTOR,
    codex.COLLECTOR,
    claude.COLLECTOR,
    copilot.COLLECTOR,
    otel.COLLECTOR,
    atif.COLLECTOR,
    swe_agent.COLLECTOR,
    openhands.COLLECTOR,
)


def detect(content: bytes) -> Collector | None:
    """Find the collector whose recording `content` is, or None; a name plays no part.

    Raises: nothing.
    """
    for collector in COLLECTORS:
        if collector.detect(content):
            return collector
    return None
