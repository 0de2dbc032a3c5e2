"""Every name under which something is measured, in one place: the conventions still move.

The GenAI conventions of OpenTelemetry are "Development", so their names are written here and none
is imported. The eight metrics of coding agents have the names, units and attributes that dashboards
for them know; only the first word is ours, and `HOLDFAST_METRIC_PREFIX` can change it.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "holdfast"

# Attributes of the GenAI conventions.
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH: Final = "gen_ai.response.finish_reasons"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT: Final = "gen_ai.agent.name"
TOOL: Final = "gen_ai.tool.name"
TOOL_CALL: Final = "gen_ai.tool.call.id"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOKEN_TYPE: Final = "gen_ai.token.type"
INPUT: Final = "gen_ai.usage.input_tokens"
OUTPUT: Final = "gen_ai.usage.output_tokens"
CACHE_READ: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE: Final = "gen_ai.usage.cache_creation.input_tokens"
REASONING: Final = "gen_ai.usage.reasoning.output_tokens"
ERROR: Final = "error.type"

# What an operation is called.
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
INVOKE_AGENT: Final = "invoke_agent"
COMPACT: Final = "compact"
"""Ours: the conventions have no word for it."""

PROVIDERS: Final = {"google": "gcp.gemini"}
"""What the conventions call a provider, where it is not what we call it."""

# Metrics of the GenAI conventions, with the buckets they ask for.
TOKEN_USAGE: Final = "gen_ai.client.token.usage"
DURATION: Final = "gen_ai.client.operation.duration"
FIRST_CHUNK: Final = "gen_ai.client.operation.time_to_first_chunk"
BUCKETS: Final = {
    "{token}": tuple(float(4**power) for power in range(14)),
    "s": tuple(0.01 * 2**power for power in range(14)),
}
"""By unit; the SDK's own begin at 0, 5, 10 and suit neither."""

# Metrics that coding agents are watched by, without their first word.
SESSIONS: Final = "session.count"
LINES: Final = "lines_of_code.count"
PULL_REQUESTS: Final = "pull_request.count"
COMMITS: Final = "commit.count"
COST: Final = "cost.usage"
TOKENS: Final = "token.usage"
DECISIONS: Final = "code_edit_tool.decision"
ACTIVE: Final = "active_time.total"

# Metrics of our own, without their first word.
COMPACTIONS: Final = "compaction.count"
FREED: Final = "compaction.freed"
LIMIT: Final = "rate_limit.limit"
REMAINING: Final = "rate_limit.remaining"
PER_MINUTE: Final = "rate_limit.tokens_per_minute"

SESSION: Final = "session.id"


def provider(name: str) -> str:
    """A provider as the conventions call it."""
    return PROVIDERS.get(name, name)


def source(cause: str) -> str:
    """Who made a call, in the words of dashboards for coding agents."""
    return {"turn": "main", "subtask": "subagent"}.get(cause, "auxiliary")


def milliseconds(started: int, ended: int) -> int:
    """How long something took; a clock set back means no time."""
    return max(ended - started, 0)
