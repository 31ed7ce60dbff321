"""Names of event types and phases, and the field names that writers use for one thing.

Source: unified session format 1.8.0, event vocabulary.
"""

from typing import Final

SESSION_FORMAT: Final = "session.format"
SESSION_COLLECTION: Final = "session.collection"
SESSION_COLLECTION_WARNING: Final = "session.collection_warning"
SESSION_INIT: Final = "session.init"
SESSION_START: Final = "session.start"
SESSION_RESULT: Final = "session.result"
TOOL_START: Final = "tool.execution_start"
TOOL_COMPLETE: Final = "tool.execution_complete"
SUBAGENT_STARTED: Final = "subagent.started"
USER_MESSAGE: Final = "user.message"
ASSISTANT_MESSAGE: Final = "assistant.message"
ASSISTANT_REASONING: Final = "assistant.reasoning"
MCP_TOOL_CALL: Final = "mcp.tool_call"
MCP_RPC_REQUEST: Final = "mcp.rpc.request"
MCP_RPC_RESPONSE: Final = "mcp.rpc.response"
MCP_PREFIX: Final = "mcp."
FIREWALL_TOKEN_USAGE: Final = "firewall.token_usage"  # noqa: S105 - an event type
USAGE_REPORT: Final = "usage.report"
EXECUTION_RESULT: Final = "execution.result"
AGENT_EXECUTION: Final = "agent.execution"
SAFE_OUTPUT_REQUEST: Final = "safe_output.request"
SAFE_OUTPUT_RESULT: Final = "safe_output.result"
SAFE_OUTPUT_ERROR: Final = "safe_output.error"
EXPERIMENT_ASSIGNMENT: Final = "experiment.assignment"
EVAL_RESULT: Final = "eval.result"
WORKFLOW_INFO: Final = "workflow.info"
TRAJECTORY_EVIDENCE: Final = "trajectory.evidence"
GRADER_MANIFEST: Final = "grader.manifest"
GRADER_RESULT: Final = "grader.result"

MAIN_PHASE: Final = "agent"
SAFE_OUTPUTS_PHASE: Final = "safe_outputs"

# Canonical name first; the first one that is present counts, whatever its value.
TOOL_CALL_ID: Final = ("toolCallId", "tool_call_id", "tool_use_id")
TOOL_NAME: Final = ("toolName", "tool_name")
TOOL_INPUT: Final = ("input", "parameters", "arguments")
DURATION_MS: Final = ("durationMs", "duration_ms")
SERVER_NAME: Final = ("serverName", "server_name", "server_id")
REQUEST_ID: Final = ("requestId", "request_id", "rid")
RETRY_EVENT: Final = ("event", "type", "event_name", "eventName")
PARENT_TOOL_ID: Final = ("parent_tool_use_id", "parentToolUseId", "parentToolCallId")
RUN_KEYS: Final = ("runId", "attempt", "runAttempt")
TIME_KEYS: Final = ("timestamp", "ts", "time", "created_at")

INPUT_TOKENS: Final = ("inputTokens", "input_tokens")
OUTPUT_TOKENS: Final = ("outputTokens", "output_tokens")
TOTAL_TOKENS: Final = ("totalTokens", "total_tokens")
CACHE_READ_TOKENS: Final = (
    "cacheReadInputTokens",
    "cache_read_input_tokens",
    "cacheReadTokens",
    "cache_read_tokens",
)
CACHE_CREATION_TOKENS: Final = (
    "cacheCreationInputTokens",
    "cache_creation_input_tokens",
    "cacheWriteTokens",
    "cache_write_tokens",
)
INPUT_INCLUDES_CACHE: Final = ("inputTokensIncludeCache", "input_tokens_include_cache")
