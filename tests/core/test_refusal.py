"""Every refusal that is known has a remedy, and the remedy takes away what was refused."""

import pytest

from holdfast.core.calls.refusals import cured, remedy
from holdfast.model.log import Repair
from holdfast.model.message import (
    Media,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    opaque,
    seal,
)
from holdfast.model.window import Block
from holdfast.testing.factories import entry

REFUSALS = {
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: t": "A1",
    "unexpected `tool_use_id` found in `tool_result` blocks: t1. Each must have one": "A2",
    "fetch use with id srv was found without a corresponding web_fetch_tool_result": "A4",
    "messages.1.content.2: `tool_use` ids must be unique": "A5",
    "`thinking` blocks in the latest assistant message cannot be modified": "A6",
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`": "A6",
    "messages.1.content.0: Invalid `signature` in `thinking` block": "A7",
    "At least one of the image dimensions exceed max allowed size for many-image requests": "A12",
    "messages.0.content.1.image.source.base64.data: image exceeds 5 MB maximum": "A12",
    "Could not process image": "A12",
    "No tool output found for function call call_1.": "O1",
    "No tool call found for function call output with call_id call_1.": "O2",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.": "O3",
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item": "O4",
    "invalid_encrypted_content: The encrypted content gAAA could not be verified.": "O5",
    "Encrypted content organization_id did not match the target organization.": "O5",
    "Messages with tool_calls must be followed by tool messages responding to each": "O7",
    "Please ensure that the number of function response parts is equal to the number of": "G1",
    "Please ensure that function call turn comes immediately after a user turn": "G2",
    "Function call is missing a thought_signature in functionCall parts.": "G3",
    "Corrupted thought signature.": "G5",
    "prompt is too long: 213456 tokens > 200000 maximum": "overflow",
    "This model's maximum context length is 8192 tokens.": "overflow",
}


@pytest.mark.parametrize("message", REFUSALS)
def test_a_refusal_is_known_by_the_providers_words(message: str) -> None:
    found = remedy(f'{{"error": {{"message": "{message}"}}}}')
    assert found is not None
    assert found.rule == REFUSALS[message]


def test_what_is_not_known_has_no_remedy() -> None:
    assert remedy("overloaded_error: try again") is None
    assert remedy("") is None


def block(seq: int, role: Role, *parts: Part) -> Block:
    return Block(section="history", role=role, parts=parts, seq=seq, source=f"entry {seq}")


TALK = (
    block(1, "user", Text("see"), Media("image/png", b"x")),
    block(
        2,
        "assistant",
        Reasoning("hm", seal("anthropic", b"{}")),
        Text("ok", seal=seal("openai", b"{}")),
        opaque("anthropic", "redacted_thinking", b"{}"),
        ToolCall("c", "sh", '{"a": 1}'),
    ),
    block(3, "tool", ToolResult("c", "out", media=(Media("image/png", b"y"),))),
    block(9, "assistant", Reasoning("later", seal("anthropic", b"{}"))),
)


def after(action: str, owner: str = "") -> dict[int, Block]:
    marker = entry(5, Repair(rule="X", action=action, owner=owner))
    return {made.seq: made for made in cured(TALK, [marker])}


def test_seals_of_the_one_who_refused_go_and_later_ones_stay() -> None:
    made = after("unseal", "anthropic")
    assert [type(part) for part in made[2].parts] == [Text, ToolCall]
    assert made[2].parts[0] == TALK[1].parts[1]
    assert made[9] == TALK[3]
    assert after("unseal")[2].parts[0] == Text("ok")


def test_pictures_become_words() -> None:
    made = after("without pictures")
    assert isinstance(made[1].parts[1], Text)
    result = made[3].parts[0]
    assert isinstance(result, ToolResult)
    assert result.media == ()
    assert "a picture left out" in result.output


def test_documents_are_no_pictures_and_stay() -> None:
    paper, shot = Media("application/pdf", b"%PDF-"), Media("image/png", b"x")
    result = ToolResult("c", "out", media=(paper, shot, shot))
    marker = entry(5, Repair(rule="A12", action="without pictures"))
    (made,) = cured(
        (block(1, "user", paper, result, ToolResult("d", "", media=(paper,))),), [marker]
    )
    assert (made.parts[0], made.parts[2]) == (paper, ToolResult("d", "", media=(paper,)))
    answer = made.parts[1]
    assert isinstance(answer, ToolResult)
    assert answer.media == (paper,)
    assert "[2 pictures left out: the provider refused a picture of this" in answer.output


def test_calls_become_text_and_nothing_said_is_lost() -> None:
    made = after("calls as text")
    words = " ".join(p.text for seq in (2, 3) for p in made[seq].parts if isinstance(p, Text))
    assert "called sh with" in words
    assert "out" in words
    assert made[3].role == "user"


def test_an_unknown_action_of_a_newer_program_changes_nothing() -> None:
    assert tuple(after("dance").values()) == TALK
