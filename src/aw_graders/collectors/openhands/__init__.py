"""OpenHands: events of both generations, in files, folders and results of evaluations."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.openhands.collect import collect
from aw_graders.collectors.openhands.detect import detect

COLLECTOR: Final = Collector(
    id="openhands",
    title="OpenHands",
    detect=detect,
    collect=collect,
    companions=("event-*.json",),
)

__all__ = ["COLLECTOR", "collect", "detect"]
