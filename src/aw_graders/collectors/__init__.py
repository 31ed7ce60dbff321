"""Collectors: recordings of agents, read tolerantly, as events of a unified session.

`collectors.registry` lists them and finds the one for a recording; it loads all of them.
"""

from aw_graders.collectors.base import Collected, CollectionNote, Collector, SourceFile

__all__ = ["Collected", "CollectionNote", "Collector", "SourceFile"]
