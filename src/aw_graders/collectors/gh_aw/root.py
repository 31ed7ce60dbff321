"""Telling the folder of a run's artifacts from any other folder."""

from pathlib import Path
from typing import Final

from aw_graders.collectors.gh_aw.layout import layout_of
from aw_graders.collectors.gh_aw.notes import RunNotes
from aw_graders.collectors.gh_aw.tree import walk

# Names that nothing else has. Others, such as `otel.jsonl`, lie in many folders.
_AGENT: Final = (
    "agent-session.jsonl",
    "agent-stdio.log",
    "agent-errors.jsonl",
    "agent_execution.json",
    "agent_output.json",
    "agent_usage.json",
    "agent_usage.jsonl",
    "aw_info.json",
    "pi-streaming.jsonl",
    "safe_output.jsonl",
    "safeoutputs.jsonl",
    "token-usage.jsonl",
)
_FOLDERS: Final = (
    "aw-prompts",
    "firewall-audit-logs",
    "mcp-logs",
    "sandbox/agent/logs",
    "sandbox/firewall",
)


def is_root(root: Path) -> bool:
    """Tell whether a folder holds evidence of a workflow run; an earlier session alone is none.

    Raises: nothing.
    Cost: that of listing the folder.
    """
    notes = RunNotes()
    try:
        layout = layout_of(walk(root, notes), notes)
    except OSError:
        return False
    folders = (*layout.agent, *layout.detection)
    return (
        layout.first(layout.agent, *_AGENT) is not None
        or layout.first(layout.activation, "aw_info.json") is not None
        or layout.first(layout.safe_outputs, "safe-output-items.jsonl") is not None
        or layout.first(layout.usage, *_AGENT, "agent/token_usage.jsonl") is not None
        or layout.first(layout.evals, "evals.jsonl") is not None
        or layout.first(layout.detection, "detection_result.json") is not None
        or any(layout.below(folder, ".jsonl") for folder in layout.firewall)
        or any(layout.first_below(folders, name, "") for name in _FOLDERS)
    )
