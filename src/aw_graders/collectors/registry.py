"""Every collector there is, and which one takes a content."""

from typing import Final

from aw_graders.collectors import claude, copilot
from aw_graders.collectors.base import Collector

COLLECTORS: Final[tuple[Collector, ...]] = (claude.COLLECTOR, copilot.COLLECTOR)


def detect(content: bytes) -> Collector | None:
    """Find the collector whose recording `content` is, or None; a name plays no part.

    Raises: nothing.
    """
    for collector in COLLECTORS:
        if collector.detect(content):
            return collector
    return None
