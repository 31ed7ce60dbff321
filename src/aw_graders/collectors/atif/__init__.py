"""ATIF: trajectories in the Agent Trajectory Interchange Format, of every version 1."""

from typing import Final

from aw_graders.collectors.atif.collect import collect
from aw_graders.collectors.atif.detect import detect
from aw_graders.collectors.base import Collector

COLLECTOR: Final = Collector(
    id="atif",
    title="ATIF trajectory",
    detect=detect,
    collect=collect,
    companions=("{stem}.summarization-*.json", "{stem}.cont-*.json"),
)

__all__ = ["COLLECTOR", "collect", "detect"]
