"""OpenCode: the output of `opencode run --format json`, and exported sessions."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.opencode.collect import collect
from aw_graders.collectors.opencode.detect import detect

COLLECTOR: Final = Collector(
    id="opencode",
    title="OpenCode",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
