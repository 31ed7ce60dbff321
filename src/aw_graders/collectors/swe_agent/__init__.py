"""SWE-agent and mini-SWE-agent: trajectories of every version, histories and demonstrations."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.swe_agent.collect import collect
from aw_graders.collectors.swe_agent.detect import detect

COLLECTOR: Final = Collector(
    id="swe_agent",
    title="SWE-agent",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
