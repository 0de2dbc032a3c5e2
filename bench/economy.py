"""What a policy costs and what it keeps, side by side: real transcripts replayed turn by turn.

At every reply of a transcript the window is prepared, its request written and charged as a provider
with a prompt cache would, and the reply appended with the usage that was charged. Summaries are
written without a model for every policy alike; the call that a model would have been asked with is
charged all the same, with the summary as its output.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from bench import replay
from bench.billing import Cache, Tokens
from bench.preparing import SYSTEM, TOOLS
from bench.progress import Stage, silent
from bench.replay import Transcript
from bench.used import Shown, Use, uses
from holdfast import policies
from holdfast.core.calls.price import cost
from holdfast.core.extract import extract
from holdfast.core.log.transcript_text import earlier
from holdfast.core.search.searchable_text import searchable
from holdfast.engine.bridge import ThreadLock, drive
from holdfast.engine.engine import Engine
from holdfast.engine.ids import Ulids
from holdfast.engine.session import AsyncSession
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import OverBudget
from holdfast.model.log import Entry
from holdfast.model.message import Message, SummaryText, Text, user
from holdfast.model.plan import Plan
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply, Usage
from holdfast.model.span import within
from holdfast.providers.catalogue import BuiltIn
from holdfast.stores.memory import MemoryStore

OURS = "holdfast"
OTHERS = (
    "aider", "codex", "codex@seed", "opencode", "opencode@seed", "claude-code", "claude-code@seed",
    "gemini-cli",
)  # fmt: skip
WINDOWS = (32_000, 128_000)
MODEL, WEAK = "claude-sonnet-4-6", "claude-haiku-4-5"
SERVER = frozenset({"context_editing", "server_compaction"})
"""Abilities that are taken away: what a policy has a provider do is done by the client."""
NO_BOUND = 1_000.0
"""The others know no bound to what summaries may cost."""
EVERY, BRIEFLY = 5, 15
"""The share is taken at every fifth reply; in a short run at every fifteenth."""
FEW = (
    "claude/cli/d5-99f72ee73a-0.jsonl", "codex/hk/6b-6d9bd86be1-0.jsonl",
    "opencode/session-bridge/13-dddd416599-0.json", "opencode/bestcodes.dev/55-d262fed8cf-0.json",
)  # fmt: skip
"""The transcripts of a short run."""
PACE = 20_000
"""How many milliseconds pass from entry to entry where a transcript does not say."""
AGAIN = "An earlier attempt was not accepted."
"""How a question begins its second half that is asked once more."""
GO_ON = "Go on."
"""Stands for a summary that the recorded agent made itself: here the policy makes its own."""


class Run(msgspec.Struct):
    """One transcript under one policy in one window."""

    policy: str
    window: int
    transcript: str
    tuning: bool
    replies: int = 0
    refused: int = 0
    """Of which none could be asked for: what was just asked did not fit."""
    nano: int = 0
    """The bill, in billionths of a US dollar."""
    upkeep: int = 0
    """Of which summaries."""
    usage: Usage = Usage()
    kept: int = 0
    wanted: int = 0
    """Of what was used later: how much was in the window, and how much there was."""
    steps: dict[str, int] = {}
    """How often each step was taken."""
    largest: int = 0
    """The longest prompt."""


class Result(msgspec.Struct):
    """Everything that was measured."""

    date: str
    runs: list[Run]
    every: int = EVERY

    def of(self, policy: str, window: int, tuning: bool | None = None) -> Run:
        """All transcripts of a policy in a window taken together."""
        found = [r for r in self.runs if (r.policy, r.window) == (policy, window)]
        if tuning is not None:
            found = [run for run in found if run.tuning == tuning]
        whole = Run(policy, window, "", bool(tuning))
        for run in found:
            _add(whole, run)
        return whole

    @property
    def policies(self) -> list[str]:
        """The policies, ours first."""
        return list(dict.fromkeys(run.policy for run in self.runs))


def _add(whole: Run, run: Run) -> None:
    for name in ("replies", "refused", "nano", "upkeep", "kept", "wanted"):
        setattr(whole, name, getattr(whole, name) + getattr(run, name))
    whole.usage += run.usage
    whole.largest = max(whole.largest, run.largest)
    for step, times in run.steps.items():
        whole.steps[step] = whole.steps.get(step, 0) + times


def share(run: Run) -> float:
    """What was in the window of all that was used later."""
    return run.kept / run.wanted if run.wanted else 0.0


def measure(
    stage: Stage = silent,
    *,
    every: int = EVERY,
    windows: Sequence[int] = WINDOWS,
    names: Sequence[str] = (OURS, *OTHERS),
    only: Sequence[str] = (),
) -> Result:
    """Replay every transcript under every policy; each transcript is one process's work."""
    found = [one for one in replay.transcripts() if not only or one.name in only]
    found.sort(key=lambda one: -len(one.entries))
    tick = stage("replaying transcripts", len(found))
    runs: list[Run] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(replayed, one, every, tuple(windows), tuple(names)) for one in found]
        for job in as_completed(jobs):
            runs += job.result()
            tick()
    runs.sort(key=lambda run: (names.index(run.policy), run.window, run.transcript))
    return Result(datetime.now(UTC).date().isoformat(), runs, every)


def replayed(
    one: Transcript, every: int, windows: Sequence[int], names: Sequence[str]
) -> list[Run]:
    """One transcript under all policies, in all windows."""
    entries = list(_own(one.entries))
    used = uses(entries, every)
    return [
        Replay(Run(name, window, one.name, one.tuning), entries, used).run()
        for window in windows
        for name in names
    ]


def _own(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries without the recorded agent's own compactions; time never stands still."""
    now = 1_700_000_000_000
    for entry in entries:
        body = entry.body
        assert isinstance(body, Message)
        if any(isinstance(part, SummaryText) for part in body.parts):
            body = user(GO_ON)
        now = max(entry.created, now + 1) if entry.created > 1 else now + PACE
        yield replace(entry, body=body, created=now)


class Told:
    """A catalogue in which one model has another window, and policies do all by themselves."""

    def __init__(self, window: int) -> None:
        self._built_in = BuiltIn()
        self._window = window

    def profile(self, model: str) -> Profile:
        """The model; what a provider does for a policy is left to us."""
        known = self._built_in.profile(model)
        window = self._window if model == MODEL else known.window
        return replace(known, window=window, abilities=known.abilities - SERVER)

    def policy(self, name: str) -> Policy:
        """The policy, with nobody to ask and nothing prepared ahead."""
        known = policies.policy(name)
        spend = known.spend if known.name == OURS else NO_BOUND
        return replace(known, asks_before_overlong=False, background=False, notes=None, spend=spend)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built_in, name)


class Clock:
    """The time of the transcript."""

    def __init__(self) -> None:
        self.at = 0

    def now(self) -> int:
        return self.at


class Replay:
    """One transcript being replayed."""

    def __init__(self, run: Run, entries: Sequence[Entry], used: dict[int, Use]) -> None:
        self._run, self._entries, self._used = run, entries, used
        self._clock = Clock()
        self._catalogue: Any = Told(run.window)
        self._profile: Profile = self._catalogue.profile(MODEL)
        self._policy: Policy = self._catalogue.policy(run.policy)
        self._cache = Cache(self._profile, counter())
        self._plan: Plan | None = None
        self._told = 0
        self._asked: dict[tuple[int, str], str] = {}
        """Whom each plan's summary was asked of first."""
        self._last: tuple[int, str] = (0, "")
        self._pieces = 0
        self._sent: dict[str, Any] = {"messages": []}
        self._session = drive(self._open())

    async def _open(self) -> AsyncSession:
        store: Any = MemoryStore()
        engine = Engine(
            store, clock=self._clock, ids=Ulids(self._clock), lock=ThreadLock,
            catalogue=self._catalogue, voice=_at_once,
        )  # fmt: skip
        return await engine.session(
            model=MODEL, policy=self._run.policy, summariser=self._summary, weak_model=WEAK,
            hooks=[self._planned],
        )  # fmt: skip

    def run(self) -> Run:
        """All of it, from the first entry to the last."""
        drive(self._replay())
        return self._run

    async def _replay(self) -> None:
        asked = False
        for at, entry in enumerate(self._entries):
            body = entry.body
            assert isinstance(body, Message)
            if body.role == "assistant" and asked:
                await self._reply(at, body, entry.created)
            else:
                self._clock.at = entry.created
                await self._session.append(body, model=entry.model)
                asked = asked or body.role == "user"

    async def _reply(self, at: int, body: Message, created: int) -> None:
        self._run.replies += 1
        try:
            window = await self._session.turns.window(system=SYSTEM, tools=TOOLS)
        except OverBudget:
            self._run.refused += 1
            self._clock.at = created
            await self._session.append(body, model=MODEL)
            return
        usage = self._charged(window, body)
        if use := self._used.get(at):
            kept, wanted = Shown(_texts(window)).share(use)
            self._run.kept += kept
            self._run.wanted += wanted
        await self._count_steps()
        self._clock.at = created
        await self._session.turns.record(
            Reply(message=body, usage=usage, stop="end", model=MODEL, provider="anthropic"),
            "anthropic",
        )

    def _charged(self, window: PreparedWindow, body: Message) -> Usage:
        """What the provider takes for this window and the reply to it."""
        request = self._sent = window.request("anthropic")
        usage = self._cache.charge(request, self._clock.at, self._output(body))
        self._bill(usage, self._profile)
        self._run.largest = max(self._run.largest, usage.prompt)
        return usage

    def _output(self, body: Message) -> int:
        return round(counter().of("\n".join(map(searchable, body.parts))) * self._profile.ratio)

    def _bill(self, usage: Usage, profile: Profile) -> int:
        paid = cost(usage, profile) or 0
        self._run.nano += paid
        self._run.usage += usage
        return paid

    def _planned(self, plan: Plan) -> None:
        self._plan = plan

    def _summary(self, question: Any) -> Reply:
        """A model's part: what is asked is charged, and the answer made without one."""
        text = drive(self._extracted(question.max_tokens // 2))
        output = round(counter().of(text) * question.profile.ratio)
        usage = self._asked_for(question, output)
        self._run.upkeep += self._bill(usage, question.profile)
        return Reply(message=Message("assistant", (Text(text),)), usage=usage, stop="end")

    def _asked_for(self, question: Any, output: int) -> Usage:
        """What one question is charged: all that is read, and one summary as its output.

        What was refused and is asked again is not charged: our stand-in gets no better by asking.
        Neither are summaries in between, where a stretch is told in pieces.
        """
        assert self._plan
        key = (self._plan.epoch, question.cause)
        first = self._asked.setdefault(key, question.model)
        if question.model != first or AGAIN in f"{question.system}{question.prompt}":
            return Usage()
        pieces = self._pieces = self._pieces + 1 if key == self._last else 1
        self._last = key
        rule = self._policy.compact or self._policy.summarise
        if rule and rule.form == "conversation":  # it reads what was sent last, which is cached
            return self._cache.peek(self._sent, self._clock.at, output) if pieces == 1 else Usage()
        whole = Cache(question.profile, counter())
        request = question.request("anthropic", stream=True)
        return whole.peek(request, 0, output if pieces == 1 else 0)

    async def _extracted(self, budget: int) -> str:
        """What stands for the stretch of the plan at hand."""
        plan, log = self._plan, self._session.store.log
        assert plan
        view = await self._session.view()
        read = await log.read(self._session.id, plan.covers, limit=100_000)
        said = [e for e in read if e.is_message and e.seq not in plan.kept]
        said = [e for e in said if within(e.seq, view.spans)]
        standing = (
            await log.read(self._session.id, tuple(s for s in view.standing), limit=100)
            if view.standing
            else ()
        )
        return extract(said, earlier(standing), budget, beside=plan.ledger)

    async def _count_steps(self) -> None:
        last = self._session.info.last_marker
        if last <= self._told:
            return
        log, id = self._session.store.log, self._session.id
        for entry in await log.markers(id, before=last + 1, limit=20):
            if entry.seq > self._told and (step := getattr(entry.body, "step", "")):
                self._run.steps[step] = self._run.steps.get(step, 0) + 1
        self._told = last


def _texts(window: PreparedWindow) -> Iterator[str]:
    for block in window.blocks:
        yield "\n".join(map(replay.text_of, block.parts))


def _at_once(voice: Any) -> Any:
    async def heard(question: Any) -> Any:
        return voice(question)

    return heard


@cache
def counter() -> Tokens:
    """Counts for a whole process."""
    return Tokens()
