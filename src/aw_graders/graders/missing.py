"""What several families answer when the same evidence is missing."""

from typing import Final

from aw_graders.graders.model import Unavailable

NO_TOOL_CALLS: Final = Unavailable(
    "no-tool-calls",
    "no tool call was recorded; record the agent's tool.execution_start and "
    "tool.execution_complete events",
)
AGENT_NOT_OBSERVED: Final = Unavailable(
    "agent-not-observed",
    "neither the agent nor the gateway was observed; collect the agent's session file",
)
