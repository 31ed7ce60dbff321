"""OpenTelemetry: exported traces with GenAI attributes."""

from typing import Final

from aw_graders.collectors.base import Collector
from aw_graders.collectors.otel.collect import collect
from aw_graders.collectors.otel.detect import detect

COLLECTOR: Final = Collector(
    id="otel",
    title="OpenTelemetry traces",
    detect=detect,
    collect=collect,
)

__all__ = ["COLLECTOR", "collect", "detect"]
