"""A question for a summary is the turn's own request with one message more: it reads the cache."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.plugins import provider
from holdfast.model.log import Summary
from holdfast.model.message import ToolResult, tool
from holdfast.model.reply import Usage
from holdfast.ports import Provider
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, Think, answer

MODELS = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-5"),
    "openai-chat": ("openai", "gpt-5"),
    "gemini": ("google", "gemini-2.5-pro"),
}
READ = {"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}
SYSTEM = "You are careful. " * 40
GIVEN: dict[str, Any] = {"system": SYSTEM, "tools": [READ], "context": {"cwd": "/work"}}
SUMMARY = "They read the files one after the other, and each of them is fine so far."
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "thinking": {"thinking": 2_048, "tool_choice": "auto"},
    "native": {"thinking": {"type": "enabled", "budget_tokens": 2_048}, "effort": "high"},
}


class Cache:
    """What Anthropic keeps of the requests it has answered: every prefix that ends at a mark."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    def usage(self, body: dict[str, Any]) -> Usage:
        """How much of a request is read, written and neither, by its own count."""
        pieces, marks, size = [], [], 0
        for block, marked in self._blocks(body):
            size += len(block) // 4
            pieces.append((block, size))
            marks += [len(pieces)] if marked else []
        keys = ["\n".join(block for block, _ in pieces[:end]) for end in range(len(pieces) + 1)]
        reach = [at for end in marks for at in range(max(end - 20, 1), end + 1)]
        read = max((at for at in reach if keys[at] in self._held), default=0)
        wrote = max(marks, default=0)
        self._held |= {keys[end] for end in marks}
        at = [0, *(size for _, size in pieces)]
        return Usage(
            input=at[-1] - at[max(read, wrote)], cache_read=at[read],
            cache_write=max(at[wrote] - at[read], 0), output=200,
        )  # fmt: skip

    @staticmethod
    def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        for part in [*body.get("tools", []), *body.get("system", [])]:
            yield Cache._bare(part)
        # A changed tool choice, thinking or effort drops the messages.
        settings = [body.get(name) for name in ("tool_choice", "thinking", "output_config")]
        yield str(settings), False
        for message in body["messages"]:
            for part in message["content"]:
                text, marked = Cache._bare(part)
                yield message["role"] + text, marked

    @staticmethod
    def _bare(part: dict[str, Any]) -> tuple[str, bool]:
        bare = {name: value for name, value in part.items() if name != "cache_control"}
        return str(bare), len(bare) < len(part)


def reached(server: StrictServer, format: str) -> Provider:
    name = MODELS[format][0]
    return provider(name, format, key="k", url=server.url(name))


def turn(session: Session, there: Provider, text: str, options: dict[str, Any]) -> None:
    """One turn with a look into a file, as a loop would do it."""
    session.user(text)
    for _ in range(3):
        window = session.window(**GIVEN)
        request = window.request(there.format, stream=True, **options)
        entry = session.reply(stream(there, request), format=there.format)
        body: Any = entry.body
        if not body.calls:
            return
        results = [
            ToolResult(call.id, f"{call.id}: " + "a line of it\n" * 300) for call in body.calls
        ]
        session.append(tool(*results))


def stream(there: Provider, request: dict[str, Any]) -> Any:
    from holdfast.engine.bridge import drive
    from holdfast.engine.plugins import codec

    decoder, flow = codec(there.format).decoder(), drive(there.begin(request))
    while data := drive(flow.read()):
        decoder.feed(data)
    drive(flow.close())
    return decoder.close()


def unmarked(request: dict[str, Any]) -> dict[str, Any]:
    """A request without what is of one call alone: its length, and whether it is streamed."""
    alone = {"max_tokens", "max_output_tokens", "max_completion_tokens", "stream", "stream_options"}
    made = {name: copy.deepcopy(value) for name, value in request.items() if name not in alone}
    if isinstance(made.get("config"), dict):
        made["config"].pop("max_output_tokens", None)
    return made


def flattened(request: dict[str, Any]) -> list[Any]:
    """What is said in a request, piece by piece: messages of one role may have been joined."""
    said = next(request[name] for name in ("messages", "input", "contents") if name in request)
    pieces: list[Any] = []
    for message in said:
        content = message.get("content", message.get("parts"))
        role = message.get("role", message.get("type"))
        if isinstance(content, list) and role in ("user", "model", "assistant"):
            pieces += [(role, part) for part in content]
        else:
            pieces.append(message)
    return pieces


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("policy", ["holdfast", "claude-code"])
@pytest.mark.parametrize("format", MODELS)
def test_a_question_is_the_turns_request_and_one_message(
    format: str, policy: str, options: str
) -> None:
    def script(asked: Any) -> Any:
        said = str(asked.body)
        if "Paths" in said and "letter for letter" in said:
            return answer(f"<summary>{SUMMARY}</summary>")
        last = said.rpartition("Look at file")[2]
        thought = [Think("Let me see.")] if "thinking" in asked.body else []
        done = [*thought, "It is fine."] if "a line of it" in last else [*thought, Ask("read", {})]
        return answer(*done)

    with StrictServer(script) as server, holdfast.open("memory:") as hf:
        there, asked = reached(server, format), list[dict[str, Any]]()

        def summariser(question: Any) -> Any:
            asked.append(question.request(format, stream=True))
            return stream(there, asked[-1])

        session = hf.session(model=MODELS[format][1], policy=policy, summariser=summariser)
        for n in range(4):
            turn(session, there, f"Look at file {n}.", OPTIONS[options])
        session.user("Look at all of them once more, please.")
        whole = session.window(**GIVEN).request(format, stream=True, **OPTIONS[options])
        session.apply(session.plan())
        there.close()
        assert server.refused == []
        question = asked[0]
        one, other = flattened(whole), flattened(question)
        assert other[: len(one)] == one
        assert len(other) == len(one) + 1
        for name in ("messages", "input", "contents"):
            whole.pop(name, None)
            question.pop(name, None)
        assert unmarked(question) == unmarked(whole)
        made = [entry.body for entry in session.entries() if isinstance(entry.body, Summary)]
        assert SUMMARY in made[0].text


def played(
    hf: Holdfast, policy: str, turns: int, **more: Any
) -> tuple[list[Summary], list[Usage], Session]:
    """A long session with Claude whose provider bills as it caches; its summaries."""
    cache, billed = Cache(), list[Usage]()

    def reply(body: dict[str, Any], text: str) -> dict[str, Any]:
        used = cache.usage(body)
        usage = {
            "input_tokens": used.input, "output_tokens": used.output,
            "cache_read_input_tokens": used.cache_read,
            "cache_creation_input_tokens": used.cache_write,
        }  # fmt: skip
        return {
            "id": f"msg_{id(usage)}_{len(billed)}_{used.cache_read}", "type": "message",
            "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": usage,
        }  # fmt: skip

    def summariser(question: Any) -> Any:
        if question.cause == "notes":
            return "none"
        made = reply(question.request("anthropic"), f"<summary>{SUMMARY}</summary>")
        used = made["usage"]
        billed.append(
            Usage(
                input=used["input_tokens"], cache_read=used["cache_read_input_tokens"],
                cache_write=used["cache_creation_input_tokens"],
            )
        )  # fmt: skip
        return made

    s = hf.session(model="claude-haiku-4-5", policy=policy, summariser=summariser, **more)
    for n in range(turns):
        s.user(f"Look at part {n}: " + f"line {n} of what is pasted here\n" * 900)
        request = s.window(**GIVEN).request("anthropic")
        s.reply(reply(request, f"Part {n} is fine. " * 20))
    return [e.body for e in s.entries() if isinstance(e.body, Summary)], billed, s


@pytest.mark.parametrize("policy", ["holdfast", "claude-code"])
def test_it_reads_what_is_cached_and_no_later_compaction_does_without_a_model(policy: str) -> None:
    with holdfast.open("memory:") as hf:
        made, billed, _ = played(hf, policy, 100)
        assert len(made) >= 3
        assert all(one.model for one in made)
        read = sum(one.cache_read for one in billed)
        assert read > 0.8 * sum(one.prompt for one in billed)


def test_notes_do_not_use_up_what_summaries_may_cost() -> None:
    from holdfast.engine.bridge import drive
    from holdfast.engine.calls.ask import Guard
    from holdfast.model.reply import Call

    with holdfast.open("memory:") as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="holdfast")
        s.user("hello")
        for cause, cost in (("turn", 10**9), ("notes", 10**9)):
            drive(
                s.store.calls.record(
                    Call(
                        id=f"call_{cause}", session=s.id, cause=cause, cost=cost, outcome="done",
                        provider="anthropic", model="claude-sonnet-4-6", started=1, ended=2,
                    )
                )
            )  # fmt: skip
        guard = Guard(s._inner, hf.catalogue.policy("holdfast"))  # type: ignore[reportPrivateUsage]
        assert drive(guard.why_not("notes"))
        assert drive(guard.why_not("summary")) == ""


def test_calls_in_the_answer_are_ignored_and_calls_alone_are_no_answer() -> None:
    with StrictServer(lambda asked: answer("Done.")) as server, holdfast.open("memory:") as hf:
        there, asked = reached(server, "anthropic"), list[Any]()

        def summariser(question: Any) -> Any:
            asked.append(question)
            call = {"type": "tool_use", "id": f"t{len(asked)}", "name": "read", "input": {}}
            words = {"type": "text", "text": f"<summary>{SUMMARY}</summary>"}
            alone = len(asked) == 1
            return {
                "id": f"msg_s{len(asked)}", "type": "message", "role": "assistant",
                "model": "claude-sonnet-4-6", "stop_reason": "tool_use",
                "content": [call] if alone else [words, call],
                "usage": {"input_tokens": 5, "output_tokens": 5},
            }  # fmt: skip

        s = hf.session(model="claude-sonnet-4-6", policy="claude-code", summariser=summariser)
        for n in range(6):
            turn(s, there, f"Look at file {n} " + "closely " * 400, {})
        there.close()
        s.apply(s.plan())
        made = next(e.body for e in s.entries() if isinstance(e.body, Summary))
        assert SUMMARY in made.text
        assert made.model
        assert len(asked) == 2
