"""GitHub agentic workflows: the folder of one run's artifacts, as one whole session."""

from aw_graders.collectors.gh_aw.collect import collect_root
from aw_graders.collectors.gh_aw.root import is_root

__all__ = ["collect_root", "is_root"]
