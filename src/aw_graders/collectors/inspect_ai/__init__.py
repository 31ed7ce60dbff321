"""Inspect: logs of evaluations, as JSON or as archives, and single samples of them."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.inspect_ai.collect import collect
from aw_graders.collectors.inspect_ai.detect import detect

COLLECTOR: Final = Collector(
    id="inspect_ai",
    title="Inspect logs",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
