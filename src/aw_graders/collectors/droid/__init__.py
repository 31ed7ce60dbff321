"""Factory Droid: the output of `droid exec` in `stream-json`, and session files."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.droid.collect import collect
from aw_graders.collectors.droid.detect import detect

COLLECTOR: Final = Collector(
    id="droid",
    title="Factory Droid",
    detect=detect,
    collect=collect,
    companions=("{stem}.settings.json",),
)

__all__ = ["COLLECTOR", "collect", "detect"]
