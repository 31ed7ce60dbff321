"""Pi: session files of every version, and the output of its JSON mode."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.pi.collect import collect
from aw_graders.collectors.pi.detect import detect

COLLECTOR: Final = Collector(
    id="pi",
    title="Pi",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
