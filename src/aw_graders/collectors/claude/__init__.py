"""Claude Code: session transcripts, sub-agent transcripts, and the stream-json output."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.claude.collect import collect
from aw_graders.collectors.claude.detect import detect

COLLECTOR: Final = Collector(
    id="claude",
    title="Claude Code",
    detect=detect,
    collect=collect,
    companions=("{stem}/subagents/agent-*.jsonl",),
)

__all__ = ["COLLECTOR", "collect", "detect"]
