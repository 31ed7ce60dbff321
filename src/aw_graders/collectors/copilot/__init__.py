"""Copilot CLI: the events of a session state folder."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.copilot.collect import collect
from aw_graders.collectors.copilot.detect import detect

COLLECTOR: Final = Collector(
    id="copilot",
    title="GitHub Copilot CLI",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
