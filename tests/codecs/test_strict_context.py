"""The strict server plays what a provider does by itself, and wants it back as it was."""

from typing import Any

import anthropic
import openai
import pytest

from holdfast.model.reply import Edit, Iteration
from holdfast.testing.strict import Answer, Compact, StrictServer, answer

MODEL = "claude-sonnet-4-6"
WORDS = "The user wants the tide table; two ports are done."
BETAS = ["context-management-2025-06-27", "compact-2026-01-12"]
EDITS = {"edits": [{"type": "clear_tool_uses_20250919"}, {"type": "compact_20260112"}]}
EACH = (
    Iteration(type="compaction", input=900, output=90),
    Iteration(type="message", input=100, output=10),
)
SAID = answer(
    Compact(WORDS),
    "Going on.",
    iterations=EACH,
    edits=(Edit(type="clear_tool_uses_20250919", cleared_tool_uses=3, cleared_tokens=70),),
)


def asked(server: StrictServer, *before: Any, betas: list[str] | None = None, **more: Any) -> Any:
    with anthropic.Anthropic(
        api_key="k", base_url=server.url("anthropic"), max_retries=0
    ) as client:
        create: Any = client.beta.messages.create
        return create(
            model=MODEL,
            max_tokens=100,
            messages=[*before, {"role": "user", "content": "go on"}],
            betas=BETAS if betas is None else betas,
            **{"context_management": EDITS, **more},
        )


@pytest.mark.seed("000", 134)
@pytest.mark.seed("001", 93)
def test_the_sdk_reads_a_compaction_its_iterations_and_what_was_cleared() -> None:
    with StrictServer(SAID) as server:
        reply = asked(server)
        assert [block.type for block in reply.content] == ["compaction", "text"]
        assert reply.content[0].content == WORDS
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 10)
        assert [one.type for one in reply.usage.iterations] == ["compaction", "message"]
        assert reply.context_management.applied_edits[0].cleared_tool_uses == 3
        echoed = {"role": "assistant", "content": reply.content}
        assert asked(server, echoed).content
        assert not server.refused


@pytest.mark.seed("000", 164)
def test_a_stream_tells_the_same() -> None:
    with (
        StrictServer(SAID) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url("anthropic")) as client,
    ):
        stream: Any = client.beta.messages.stream
        with stream(
            model=MODEL, max_tokens=100, messages=[{"role": "user", "content": "go on"}],
            betas=BETAS, context_management=EDITS,
        ) as events:  # fmt: skip
            final = events.get_final_message()
        assert final.content[0].content == WORDS
        assert [one.type for one in final.usage.iterations] == ["compaction", "message"]
        assert final.context_management.applied_edits[0].cleared_input_tokens == 70


def refused(rule: str, *before: Any, said: Answer = SAID, **more: Any) -> str:
    with StrictServer(said) as server:
        with pytest.raises(anthropic.BadRequestError) as raised:
            asked(server, *before, **more)
        assert server.asked[-1].rule == rule
        return str(raised.value)


def echo(role: str = "assistant", **changed: Any) -> dict[str, Any]:
    block = {"type": "compaction", "content": WORDS, "encrypted_content": "C-never-issued"}
    return {"role": role, "content": [block | changed]}


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (echo(), "as they were received"),
        (echo(content=""), "at least 1 character"),
        (echo(signature="Cxy"), "does not match any"),
        (echo("user"), "only be in `assistant`"),
    ],
)
def test_a_block_that_is_not_as_it_was_is_refused(before: Any, words: str) -> None:
    assert words in refused("compaction", {"role": "user", "content": "hi"}, before)


def test_a_block_whose_words_were_changed_is_refused() -> None:
    with StrictServer(SAID) as server:
        block = asked(server).content[0].model_dump() | {"content": "something else"}
        with pytest.raises(anthropic.BadRequestError, match="as they were received"):
            asked(server, {"role": "assistant", "content": [block]})


def test_a_signed_block_beside_an_edit_that_compacts_is_refused() -> None:
    with StrictServer(answer(Compact(WORDS, signed=True), stop="compaction")) as server:
        block = asked(server).content[0].model_dump(exclude_none=True)
        before = {"role": "assistant", "content": [block]}
        with pytest.raises(anthropic.BadRequestError, match="cannot be combined"):
            asked(server, before, betas=[*BETAS, "compact-2026-09-04"])
        plain = {"edits": [{"type": "clear_tool_uses_20250919"}]}
        betas = [BETAS[0], "compact-2026-09-04"]
        assert asked(server, before, betas=betas, context_management=plain)


def test_a_failed_compaction_may_come_back() -> None:
    with StrictServer("Yes.") as server:
        assert asked(server, {"role": "user", "content": "hi"}, echo(content=None))


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ([{"type": "clear_everything"}], "does not match any"),
        (
            [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 49_999}}],
            "greater than or equal to 50000",
        ),
        ([{"type": "clear_thinking_20251015"}], "requires `thinking`"),
        (
            [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}],
            "must be the first",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused(edits: Any, words: str) -> None:
    assert words in refused("context", context_management={"edits": edits})


def test_what_is_not_named_in_the_header_is_refused() -> None:
    assert "Extra inputs" in refused("context", betas=[])


def test_openai_wants_its_item_back_as_it_was() -> None:
    with (
        StrictServer(answer(Compact(WORDS), "Going on.")) as server,
        openai.OpenAI(api_key="k", base_url=server.url("openai"), max_retries=0) as client,
    ):
        create: Any = client.responses.create
        manage = [{"type": "compaction", "compact_threshold": 1000}]
        reply = create(model="gpt-5", input="hi", store=False, context_management=manage)
        items = [item.model_dump(exclude_none=True) for item in reply.output]
        assert [item["type"] for item in items] == ["compaction", "message"]
        more = [items[0], {"role": "user", "content": "and?"}]
        assert create(model="gpt-5", input=more, store=False)
        items[0]["encrypted_content"] += "x"
        with pytest.raises(openai.BadRequestError, match="could not be verified"):
            create(model="gpt-5", input=more, store=False)
