"""What is asked of a provider that can compact by itself, and what is left to us."""

from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.core.compaction.provider_edits import edits, theirs
from holdfast.model.message import ToolCall, assistant
from holdfast.model.policy import Thinking
from holdfast.policies import policy
from holdfast.providers.catalogue import BuiltIn

CLAUDE, GPT, GEMINI = (
    BuiltIn().profile(name) for name in ("claude-sonnet-4-6", "gpt-5", "gemini-2.5-pro")
)
SEED = policy("claude-code@seed")


@pytest.mark.seed("000", 127, 135, 138, 196)
@pytest.mark.seed("001", 87, 88, 89, 149, 154)
def test_the_edits_of_the_first_claude_code() -> None:
    asked = edits(SEED, CLAUDE, thinking=True)["edits"]
    assert [one["type"] for one in asked] == [
        "clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112",
    ]  # fmt: skip
    assert asked[1]["trigger"] == {"type": "input_tokens", "value": 100_000}
    assert asked[1]["keep"] == {"type": "tool_uses", "value": 3}
    assert asked[2]["trigger"] == {"type": "input_tokens", "value": 150_000}


def test_thinking_is_not_cleared_where_there_is_none() -> None:
    types = [one["type"] for one in edits(SEED, CLAUDE, thinking=False)["edits"]]
    assert "clear_thinking_20251015" not in types


@pytest.mark.seed("000", 131, 132, 137, 142, 197, 198)
@pytest.mark.seed("001", 86, 90, 91, 150, 151, 153, 155)
def test_every_field_of_the_providers_own_management_is_data_of_the_policy() -> None:
    clear, compact = SEED.microcompact, SEED.compact
    assert clear
    assert compact
    own = replace(
        SEED,
        thinking=Thinking(keep_all=True),
        microcompact=replace(clear, exclude=("Memory",), inputs=True),
        compact=replace(compact, pause=True, keeps=4, instructions="Keep the numbers."),
    )
    thoughts, results, summary = edits(own, CLAUDE, thinking=True)["edits"]
    assert thoughts["keep"] == "all"
    assert (results["exclude_tools"], results["clear_tool_inputs"]) == (["Memory"], True)
    assert summary["pause_after_compaction"] is True
    assert summary["instructions"] == "Keep the numbers."


def test_a_policy_of_our_own_asks_nothing_of_the_provider() -> None:
    assert edits(policy("holdfast"), CLAUDE, thinking=True) == {}
    assert not theirs(policy("holdfast"), CLAUDE, "compact")


@pytest.mark.seed("000", 199)
def test_what_a_provider_cannot_do_is_ours() -> None:
    assert theirs(SEED, CLAUDE, "compact")
    assert not theirs(SEED, GEMINI, "compact")
    assert edits(SEED, GEMINI, thinking=True) == {}


@pytest.mark.seed("001", 148)
def test_openai_compacts_at_the_same_mark() -> None:
    if GPT.can("server_compaction"):
        assert edits(SEED, GPT, thinking=True) == {
            "type": "compaction", "compact_threshold": 150_000,
        }  # fmt: skip


def talk(model: str) -> tuple[list[str], dict[str, Any]]:
    """The steps taken, and the last request, of a long conversation with many results."""
    with holdfast.open("memory:") as hf:
        s, request = hf.session(model=model, policy="claude-code@seed"), {}
        for n in range(24):
            s.user(f"read file {n}")
            s.append(assistant("reading", ToolCall(f"c{n}", "Read", '{"file_path":"a.py"}')))
            s.tool_result(f"c{n}", f"value_{n} = {n}\n" * 1_500, name="Read")
            s.append(assistant("read"))
            s.user("go on")
            request = s.window().request("anthropic")
        steps = [getattr(e.body, "step", "") for e in s.entries() if not e.is_message]
        return steps, request


@pytest.mark.seed("000", 128)
def test_the_provider_is_asked_where_it_can_and_we_do_the_same_where_it_cannot() -> None:
    steps, request = talk("claude-sonnet-4-6")
    assert steps == []
    assert "context_management" in request
    steps, request = talk("gemini-2.5-pro")
    assert "microcompact" in steps
    assert "context_management" not in request
