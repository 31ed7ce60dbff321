"""The one room that starts other processes."""

from aw_graders.processes.sharing import MAX_SHARED_TASKS, can_share, share

__all__ = ["MAX_SHARED_TASKS", "can_share", "share"]
