"""Codex CLI: session rollouts of every generation, and the output of `codex exec --json`."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.codex.collect import collect
from aw_graders.collectors.codex.detect import detect

COLLECTOR: Final = Collector(
    id="codex",
    title="Codex",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
