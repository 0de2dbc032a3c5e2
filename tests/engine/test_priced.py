"""The price decides: the same session is compacted or not by what its model costs, and when."""

from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.engine.bridge import ThreadLock, drive
from holdfast.engine.engine import Engine
from holdfast.engine.ids import Ulids
from holdfast.engine.session import AsyncSession
from holdfast.model.decision import Decision
from holdfast.model.log import Summary
from holdfast.model.message import ToolCall, ToolResult, assistant, tool, user
from holdfast.model.policy import Policy
from holdfast.model.profile import Price, Profile
from holdfast.model.reply import Reply, Usage
from holdfast.policies import policy
from holdfast.stores.memory import MemoryStore

PRICE = Price(
    input=3_000_000_000, output=15_000_000_000, cache_read=300_000_000, cache_write=3_750_000_000
)
PROFILE = Profile(name="m", provider="anthropic", window=128_000, prices=(PRICE,))
STEPS = 8
MINUTE = 60_000


class Clock:
    at = 1_700_000_000_000

    def now(self) -> int:
        return self.at


class Catalogue:
    """One model and one policy, as the test has them."""

    def __init__(self, profile: Profile, chosen: Policy) -> None:
        self._profile, self._policy = profile, chosen

    def profile(self, model: str) -> Profile:
        return replace(self._profile, name=model)

    def policy(self, name: str) -> Policy:
        return self._policy

    def prompt(self, name: str) -> str:
        return ""


def compacted(
    profile: Profile = PROFILE, waited: int = 0, steps: int = STEPS, **named: Any
) -> Summary | None:
    """The summary that stands after a session of some steps, where one does."""
    clock, store = Clock(), MemoryStore()
    ours = policy("holdfast")
    assert ours.summarise
    loose = replace(
        ours.summarise,
        tail=replace(ours.summarise.tail, turn=False),
        due=replace(ours.summarise.due, least=0.1, saves=0.0),
    )
    catalogue: Any = Catalogue(profile, replace(ours, prune=None, summarise=loose, **named))
    engine = Engine(
        store,  # type: ignore[arg-type]
        clock=clock,
        ids=Ulids(clock),
        lock=ThreadLock,
        catalogue=catalogue,
    )
    return drive(_session(engine, clock, waited, steps))


async def _session(engine: Engine, clock: Clock, waited: int, steps: int) -> Summary | None:
    session = await engine.session(model="m")
    await session.append(user("Fix the login handler."))
    for number in range(steps):
        said = assistant(ToolCall(f"c{number}", "Read", f'{{"path": "src/file_{number}.py"}}'))
        await session.turns.record(
            Reply(message=said, usage=Usage(), stop="tools", model="m", provider="anthropic")
        )
        lines = "\n".join(f"def name_{number}_{at}(): return {at}" for at in range(150))
        await session.append(tool(ToolResult(f"c{number}", lines)))
    clock.at += waited
    await session.turns.window(system="Be careful.")
    return await _standing(session)


async def _standing(session: AsyncSession) -> Summary | None:
    found = (await session.view()).read
    bodies = [entry.body for entry in found]
    return next((body for body in bodies if isinstance(body, Summary)), None)


def priced(**named: int) -> Profile:
    return replace(PROFILE, prices=(replace(PRICE, **named),))


def decided(summary: Summary | None) -> Decision:
    assert summary is not None
    assert summary.decision is not None
    return summary.decision


def test_dear_reading_compacts_what_cheap_reading_leaves() -> None:
    assert compacted(priced(cache_read=30_000_000), steps=24) is None
    dear = decided(compacted(priced(cache_read=300_000_000), steps=24))
    assert dear.pays
    assert dear.gain > dear.price > 0
    assert not dear.cold


def test_a_cold_cache_compacts_what_a_warm_one_leaves() -> None:
    assert compacted(waited=4 * MINUTE) is None
    cold = decided(compacted(waited=6 * MINUTE))
    assert (cold.cold, cold.rewritten) == (True, 0)


def test_a_cache_that_lasts_longer_is_not_cold_yet() -> None:
    lasting = replace(PROFILE, cache_seconds=3_600)
    assert compacted(lasting, waited=6 * MINUTE) is None
    assert decided(compacted(lasting, waited=61 * MINUTE)).cold


@pytest.mark.parametrize(("turns", "compacts"), [(1, False), (40, True)])
def test_where_few_more_calls_are_expected_nothing_is_done_for_them(
    turns: int, compacts: bool
) -> None:
    found = compacted(steps=24, turns_left=turns)
    assert (found is not None) == compacts
