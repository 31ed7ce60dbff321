"""Collectors: recordings of agents, read tolerantly, as events of a unified session."""

from aw_graders.collectors.base import Collected, CollectionNote, Collector, SourceFile
from aw_graders.collectors.registry import COLLECTORS, detect

__all__ = ["COLLECTORS", "Collected", "CollectionNote", "Collector", "SourceFile", "detect"]
