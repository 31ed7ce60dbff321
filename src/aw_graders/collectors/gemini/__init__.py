"""Gemini CLI session files, and those of its fork Qwen Code."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.gemini.collect import collect
from aw_graders.collectors.gemini.detect import detect

COLLECTOR: Final = Collector(
    id="gemini",
    title="Gemini CLI, Qwen Code",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
