"""A window that says it fits does fit, by the exact count; and what is sure is asked for late."""

import json
import random
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.counters.exact import count
from holdfast.engine.client import Holdfast, Session, ThreadLock, drive
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.window.sections import Given
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.window.turn_state import TurnState
from holdfast.errors import Unreachable
from holdfast.model.log import Summary
from holdfast.model.message import Message, Text, ToolCall, ToolResult
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.window import Count, Tier
from holdfast.policies import policy, prompt
from holdfast.providers.catalogue import BuiltIn
from holdfast.stores.memory import MemoryStore
from tests.policies import SHED

SYSTEM = "You work in a repository. Be brief, and say what you did."
TOOL = {
    "name": "run",
    "description": "Run a command",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}


class Sized:
    """The built-in catalogue, with every window made the same."""

    def __init__(self, window: int) -> None:
        self._window, self._inner = window, BuiltIn()

    def profile(self, model: str) -> Profile:
        return replace(self._inner.profile(model), window=self._window, input_limit=0)

    def policy(self, name: str) -> Policy:
        return policy(name)

    def prompt(self, name: str) -> str:
        return prompt(name)

    def models(self) -> tuple[str, ...]:
        return self._inner.models()

    def learn(self, model: str, **told: Any) -> Profile:
        return self._inner.learn(model, **told)


class Endpoint:
    """Counts whatever it is asked, and remembers that it was."""

    blocking: ClassVar[bool] = True
    name = "anthropic"
    tier: Tier = "provider"

    def __init__(self, tokens: int | None) -> None:
        self.tokens, self.asked = tokens, 0

    async def count(self, texts: Any) -> list[int]:
        raise NotImplementedError

    async def count_request(self, request: dict[str, Any], format: str) -> Count | None:
        self.asked += 1
        assert format == "anthropic"
        assert request["messages"]
        if self.tokens is None:
            raise Unreachable("anthropic cannot be reached; try again")
        return Count(tokens=self.tokens, tier="provider")

    def close(self) -> None: ...


def opened(window: int, endpoint: Any = None) -> Holdfast:
    clock = SystemClock()
    return Holdfast(
        Engine(
            MemoryStore(), clock=clock, ids=Ulids(clock), lock=ThreadLock,
            catalogue=Sized(window), endpoint=endpoint,
        )
    )  # fmt: skip


def outputs(chance: random.Random) -> Iterator[str]:
    """What tools print: listings, JSON, hashes, Chinese, code: what estimates stray on."""
    while True:
        size = chance.choice([5, 40, 200])
        yield "\n".join(f"-rw-r--r-- 1 u g {chance.randrange(10**7)} f{i}.py" for i in range(size))
        rows = [{"id": chance.randrange(10**9), "ok": True, "x": chance.random()}] * size
        yield json.dumps(rows, indent=chance.choice([None, 2]))
        yield "\n".join(f"{chance.getrandbits(160):040x}  src/{i}" for i in range(size))
        yield "日志保存了每一个字，窗口里只放得下最近的部分。" * size
        yield "def f(x: int) -> int:\n    return x * 2  # twice\n\n" * size
        yield f"{chance.getrandbits(4000):x}" * (size // 5)


def converse(s: Session, tokens: int, seed: int) -> None:
    """A tool-heavy conversation of about so many tokens."""
    chance = random.Random(seed)
    printed = outputs(chance)
    for _ in range(seed % 6):
        next(printed)
    s.user("Find out why the build fails, and mend it.")
    sofar, turn = 0, 0
    while sofar < tokens:
        turn += 1
        s.append(Message("assistant", (
            Text("Looking further."), ToolCall(f"c{turn}", "run", '{"command": "make"}'),
        )))  # fmt: skip
        made = s.append(Message("tool", (ToolResult(f"c{turn}", next(printed)),)))
        sofar += sum(made.counts)
        if turn % 7 == 0:
            s.append(Message("assistant", (Text("That was not it."),)))
            s.user("Go on, then.")
    s.user("And what was it?")


def exactly(request: dict[str, Any]) -> int:
    """What o200k_base makes of a Chat Completions request, laid out as that model is trained."""
    said = 3
    for message in request["messages"]:
        content = message.get("content") or ""
        calls = message.get("tool_calls", ())
        texts = [content if isinstance(content, str) else "".join(p["text"] for p in content)]
        texts += [f"{c['function']['name']}{c['function']['arguments']}" for c in calls]
        said += 4 + sum(count(text, "o200k_base") for text in texts)
    return said + count(json.dumps(request.get("tools", [])), "o200k_base")


@pytest.mark.seed("001", 113, 119, 146)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("window", [8_192, 32_768])
def test_what_says_it_fits_does_fit(window: int, seed: int) -> None:
    with opened(window) as hf:
        s = hf.session(model="gpt-4o")
        converse(s, window * 2, seed)
        made = s.window(system=SYSTEM, tools=[TOOL])
        truth = exactly(made.request("openai-chat"))
        assert made.over == 0
        assert truth <= made.window.budget.room
        assert truth <= made.count.most
        assert made.count.tier == "exact" or made.count.most <= made.window.budget.room


@pytest.mark.long
@pytest.mark.parametrize("seed", range(30))
def test_what_says_it_fits_does_fit_at_full_size(seed: int) -> None:
    for window in (128_000, 8_192):
        test_what_says_it_fits_does_fit(window, seed)


@pytest.mark.seed("001", 127)
def test_far_from_the_limit_an_estimate_is_enough() -> None:
    with opened(128_000) as hf:
        s = hf.session(model="gpt-4o")
        s.user("hello")
        made = s.window()
        assert made.count.tier == "estimate"
        assert 0 < made.count.error < 64


@pytest.mark.seed("000", 158, 175, 179)
@pytest.mark.seed("001", 3, 128)
def test_near_the_limit_the_exact_counter_is_asked_and_its_counts_are_kept() -> None:
    with opened(8_192) as hf:
        s = hf.session(model="gpt-4o")
        s.user("word " * 5_000)
        made = s.window()
        assert made.count == Count(tokens=5_005, tier="exact")
        (known,) = drive(s.store.counts.known(s.id, s.view().spans, "o200k_base")).values()
        assert known == count("word " * 5_000, "o200k_base")


def test_a_preview_keeps_no_counts() -> None:
    with opened(8_192) as hf:
        s = hf.session(model="gpt-4o")
        s.user("word " * 5_000)
        assert s.preview().count.tier == "exact"
        assert drive(s.store.counts.known(s.id, s.view().spans, "o200k_base")) == {}


def test_what_an_estimate_would_refuse_is_sent_when_it_really_fits() -> None:
    imports = "import org.springframework.beans.factory.annotation.Autowired;\n" * 700
    with opened(8_192) as hf:
        s = hf.session(model="gpt-4o")
        s.user(imports)
        made = s.window()
        assert made.estimated > made.window.budget.room
        assert made.count.tier == "exact"
        assert made.over == 0


def test_what_an_estimate_would_let_pass_is_counted_and_shed() -> None:
    table = "| a | b |\n|---|---|\n" * 60  # takes half as much again as is estimated
    with opened(8_192) as hf:
        s = hf.session(model="gpt-4o", policy=SHED)
        for _ in range(11):
            s.append(Message("assistant", (Text(table),)))
            s.user("more")
        made = s.window()
        assert sum(1 for e in s.entries() if e.is_message) == 22
        assert made.count.tier == "exact"
        assert exactly(made.request("openai-chat")) <= made.window.budget.room


@pytest.mark.seed("001", 156, 157)
def test_without_a_vocabulary_the_provider_is_asked() -> None:
    endpoint = Endpoint(tokens=5_000)
    with opened(8_192, endpoint) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("hello")
        s.window()
        assert endpoint.asked == 0
        s.user("word " * 4_800)
        made = s.window()
        assert (endpoint.asked, made.count) == (1, Count(tokens=5_000, tier="provider"))


@pytest.mark.seed("001", 158)
@pytest.mark.parametrize(("counted", "made"), [(120_000, 0), (170_000, 1), (None, 1)])
def test_no_compaction_is_decided_on_an_estimate_where_the_provider_counts(
    counted: int | None, made: int
) -> None:
    endpoint = Endpoint(tokens=counted)
    with opened(1_000_000, endpoint) as hf:
        s = hf.session(model="claude-haiku-4-5", policy="claude-code@seed")
        for n in range(80):
            s.user(f"count the things of kind {n} " + "word " * 1_900)
            s.append(Message("assistant", (Text("Done."),)))
        s.user("and now?")
        s.window()  # about 155,000 tokens by estimate, and it compacts at 150,000
        assert endpoint.asked == 1
        assert sum(isinstance(entry.body, Summary) for entry in s.entries()) == made


def test_a_provider_that_cannot_be_reached_does_not_stop_the_turn() -> None:
    endpoint = Endpoint(tokens=None)
    with opened(8_192, endpoint) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("word " * 3_000)
        s.append(Message("assistant", (Text("word " * 1_500),)))
        s.user("and now?")
        made = s.window()
        assert endpoint.asked > 0
        assert made.count.tier == "estimate"
        assert made.count.most <= made.window.budget.room + made.window.budget.margin


def answer(prompt: int, output: int) -> dict[str, Any]:
    return {
        "id": f"msg_{prompt}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": prompt, "output_tokens": output},
    }  # fmt: skip


@pytest.mark.seed("001", 53)
def test_after_a_call_only_the_tail_is_an_estimate() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("word " * 2_000)
        s.window(system=SYSTEM).request("anthropic")
        s.reply(answer(3_333, 7))
        s.user("thanks")
        made = s.window(system=SYSTEM)
        assert 3_340 < made.count.tokens < 3_360
        assert made.count.error < 40
        other = s.window(system="Something else.")
        assert other.count.error > 500  # the anchor holds for what was given only


def test_a_marker_lifts_the_anchor() -> None:
    from holdfast.model.log import Summary
    from holdfast.model.span import Span

    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("word " * 2_000)
        s.window().request("anthropic")
        s.reply(answer(3_333, 7))
        s.append(Summary(covers=(Span(1, 2),), text="Words were said."))
        s.user("thanks")
        assert s.window().count.tokens < 200


def test_reports_teach_the_ratio_of_the_model() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for _ in range(4):
            s.user("word " * 500)
            made = s.window()
            made.request("anthropic")
            s.reply(answer(round(made.estimated * 1.5), 5))
        profile = s.catalogue.profile("claude-sonnet-4-6")
        counting = TokenCount(TurnState(s._inner, Given(), profile, policy("holdfast")))
        assert 1.15 < drive(counting.begin()).ratio <= 1.5
        switched = replace(profile, provider="google", ratio=1.1)
        other = TokenCount(TurnState(s._inner, Given(), switched, policy("holdfast")))
        assert drive(other.begin()).ratio == 1.1


def test_a_policy_that_counts_exactly_always_does() -> None:
    with opened(128_000) as hf:
        s = hf.session(model="gpt-4o", policy="aider")
        s.user("hello there")
        assert s.window().count.tier == "exact"


async def count_behind_the_async_door() -> Count:
    async with holdfast.open_async("memory:") as hf:
        s = await hf.session(model="gpt-4o", policy="aider")
        await s.user("hello there")
        return (await s.window()).count


def test_both_doors_count_alike() -> None:
    import asyncio

    with holdfast.open("memory:") as hf:
        s = hf.session(model="gpt-4o", policy="aider")
        s.user("hello there")
        assert asyncio.run(count_behind_the_async_door()) == s.window().count
