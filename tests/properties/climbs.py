"""A session that lives through a talk, and is held to the laws after every window it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.core.log.boundary import answer_at, is_answer, is_request, unread_from
from holdfast.core.log.fold import in_force
from holdfast.core.window.explain import absent
from holdfast.core.window.repair import INTERRUPTED
from holdfast.core.window.truncate import all_shown, cap
from holdfast.engine.bridge import drive
from holdfast.engine.calls.ask import CAUSES
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.compaction.model_summary import PIECES
from holdfast.engine.plugins import codec
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import HoldfastError, OverBudget
from holdfast.model import wire
from holdfast.model.log import Clear, Entry, Rewind, Summary
from holdfast.model.message import (
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    seal,
)
from holdfast.model.policy import Policy
from holdfast.model.span import within
from holdfast.model.window import Window
from holdfast.policies import policy as policy_of
from tests.properties.histories import FORMATS, OWNERS
from tests.properties.ladders import MOVES, NEVER, Voice, exactly, hasty, words

SYSTEM = "You are careful."
INSTRUCTIONS = "Always write the tests first."
PINNED = "Never touch production."
TOOL = {"name": "sh", "description": "run", "input_schema": {"type": "object", "properties": {}}}
MODELS = ("claude-sonnet-4-6", "gpt-5.5", "gemini-3.1-pro", "gpt-large")
"""The last holds four times as much as the others; no session begins with it."""
HOPELESS = 0.6
"""What takes a greater share of the room than this may turn out not to fit, estimates being so."""
SLACK = 32
"""Tokens by which a window may stray from what was promised: tags, a line put in by repair."""


class Climber:
    """One session under one policy, and whoever summarises for it."""

    def __init__(
        self, hf: Holdfast, name: str, temper: str, model: int, weak: bool, id: str = ""
    ) -> None:
        self.hf = hf
        self.policy: Policy = policy_of(hasty(name))
        self.model = MODELS[model % 3]
        self.voice = Voice(temper, hf.counter) if temper else None
        self._weak = "gpt-weak" if weak else ""
        self._id = id or hf.session(model=self.model, policy=hasty(name), directory="/tmp").id
        self.s = self._open()
        if not id:
            self.s.pin(fact=PINNED)
        self.number = self.s.info.head
        self.looked = self.s.info.head
        """The newest entry whose marker has been looked at."""
        self.last: tuple[int, str, list[bytes]] | None = None
        """Epoch, model and encoded blocks of the window before."""

    def _open(self) -> Session:
        return self.hf.session(
            self._id, summariser=self.voice, weak_model=self._weak, on_conflict="raise"
        )

    def live(self, talk: list[tuple[str, int, int]]) -> None:
        """Live through a talk; what is refused does not happen."""
        self.ask(0, 0)
        for kind, a, b in talk:
            self.number += 1
            if kind == "window":
                self.window()
            elif kind == "move":
                self.move(MOVES[a % len(MOVES)], b)
            else:
                {"ask": self.ask, "reply": self.reply, "work": self.work}[kind](a, b)
        self.ask(0, 0)
        self.window()

    def ask(self, a: int, b: int) -> None:
        self.s.user(words(self.number, a, b))

    def reply(self, a: int, b: int, *calls: ToolCall) -> None:
        owner, residue = OWNERS.get(self.model, OWNERS["gpt-5.5"])
        sealed = seal(owner, residue, self.model) if b % 2 else None
        thought = (Reasoning(words(self.number, b, a), sealed),) if b % 3 else ()
        said = Message("assistant", (*thought, Text(words(self.number, a, b)), *calls))
        self.s.append(said, provider=owner, model=self.model)

    def work(self, a: int, b: int) -> None:
        """Calls and their results: in one message or in several; now and then one is missing."""
        name = ("read_file", "Bash", "Grep", "Read")[b % 4]
        ids = [f"c{self.number}.{n}" for n in range(1 + a % 3)]
        given = '{"path": "src/app.py", "command": "ls"}'
        self.reply(0, b, *(ToolCall(id, name, given) for id in ids))
        results = [ToolResult(id, words(self.number, a + n, b + n)) for n, id in enumerate(ids)]
        if b % 7 == 6:
            results.pop()
        if a % 2:
            self.s.append(Message("tool", tuple(results))) if results else None
        else:
            for result in results:
                self.s.append(Message("tool", (result,)))

    def crossing(self) -> None:
        """Somebody speaks while a tool is still at work."""
        call = ToolCall(f"x{self.number}", "Bash", '{"command": "make"}')
        self.reply(0, 1, call)
        self.s.user(words(self.number, 1, 0))
        self.s.append(Message("tool", (ToolResult(call.id, words(self.number, 2, 1)),)))

    def move(self, what: str, n: int) -> None:
        try:
            self._move(what, n)
        except HoldfastError:
            return

    def _move(self, what: str, n: int) -> None:
        head = self.s.info.head
        moves: dict[str, Callable[[], object]] = {
            "undo": self.s.undo,
            "redo": self.s.redo,
            "rewind": lambda: self.s.rewind(max(head - n % 8, 2)),
            "pin": lambda: self.s.pin(fact=f"fact {self.number}"),
            "pin entry": lambda: self.s.pin(n % head + 1),
            "switch": lambda: setattr(self, "model", MODELS[n % len(MODELS)]),
            "reopen": lambda: setattr(self, "s", self._open()),
            "refused": lambda: self.s.learn_refusal(
                "prompt is too long: 4000 tokens > 3500 maximum"
            ),
            "crossing": self.crossing,
        }
        moves.get(what, lambda: self._plan(what, n % head + 1))()

    def _plan(self, what: str, at: int) -> None:
        wish: dict[str, Any] = {"plan since": {"since": at}, "plan upto": {"upto": at}}.get(
            what, {}
        )
        made = self.s.plan(model=self.model, **self._around(), **wish)
        self.s.apply(made)
        self.check_markers(list(self.s.entries()))

    def _around(self) -> dict[str, Any]:
        return {"system": SYSTEM, "tools": [TOOL], "instructions": INSTRUCTIONS}

    def window(self) -> None:
        """Make a window, and hold it to the laws."""
        before = self.voice.asked if self.voice else 0
        try:
            made = self.s.window(model=self.model, **self._around())
        except OverBudget:
            self.check_calls(before)
            self.check_refused()
            return
        log = list(self.s.entries())
        self.check_calls(before)
        self.check_size(made)
        self.check_requests(made)
        self.check_asked(made, log)
        self.check_unread(made)
        self.check_pairs(made, log)
        self.check_seals(made, log)
        self.check_around(made)
        self.check_absences(made, log)
        self.check_markers(log)
        self.check_prefix(made)

    def check_refused(self) -> None:
        """Law 2: it is refused only where what has to stay does not fit."""
        made = self.s.preview(model=self.model, compact=False, **self._around())
        talk = ("history", "current", "kept", "summary")
        floor = sum(block.tokens for block in made.blocks if block.section not in talk)
        has_to = {e.seq: e for e in self._unread(made)} | {
            e.seq: e for e in self._branch_requests()
        }
        asked = sum(sum(entry.counts) for entry in has_to.values())
        assert floor + asked > made.window.budget.room * HOPELESS, "it was refused, and would fit"

    def _branch_requests(self) -> list[Entry]:
        return _requests(list(self.s.entries()))[-1:]

    def _unread(self, made: PreparedWindow) -> list[Entry]:
        """What has arrived since the last reply, as it is shown, with the calls it answers."""
        if not self.policy.keeps_unread:
            return []
        log = list(self.s.entries())
        branch = [e for e in log if e.is_message and not _left_behind(e.seq, log)]
        bodies = [e.body for e in branch if isinstance(e.body, Message)]
        return all_shown(branch[unread_from(bodies) :], cap(self.policy, made.profile))

    def check_calls(self, before: int) -> None:
        """Compaction ends: no more questions than the policy allows, and each of them lawful."""
        if not self.voice:
            return
        rules = [rule for rule in (self.policy.summarise, self.policy.compact) if rule]
        # one question of the whole conversation, its pieces, and the check
        most = sum(2 * max(rule.tries, 1) * (PIECES + 1 + bool(rule.verify)) for rule in rules)
        assert self.voice.asked - before <= most
        assert not self.voice.broken, self.voice.broken
        if self.voice.temper in NEVER:
            each = max((2 * max(rule.tries, 1) for rule in rules), default=0)
            assert self.voice.asked <= self.policy.breaker + each

    def check_size(self, made: PreparedWindow) -> None:
        """Never over the room, by our count and by the model's own."""
        told = self.policy.asks_before_overlong or not self.policy.makes_room
        assert made.over == 0 or told
        if made.profile.tokenizer and not made.over:
            exact = exactly(made.window, self.hf.counter(made.profile.tokenizer))
            assert exact <= made.window.budget.room

    def check_requests(self, made: PreparedWindow) -> None:
        """Valid in every format: `request` raises where a rule is broken."""
        for format in FORMATS:
            made.request(format)

    def check_asked(self, made: PreparedWindow, log: list[Entry]) -> None:
        """Law 2: what was just asked stays; once answered it may leave, with its answer."""
        branch = _requests(log)
        if not branch:
            return
        newest, texts = branch[-1], _texts(made.window)
        later = [e for e in log if e.seq > newest.seq and not _left_behind(e.seq, log)]
        answers = [e.body.text for e in later if isinstance(e.body, Message) and is_answer(e.body)]
        if not answers:
            assert newest.body.text in texts, "what was just asked is gone"  # type: ignore[union-attr]
        ended = answer_at([e.body for e in later if isinstance(e.body, Message)]) is not None
        if ended and any(b.seq == newest.seq for b in made.blocks if b.section != "kept"):
            assert answers[-1] in texts, "what was answered stands there without its answer"

    def check_unread(self, made: PreparedWindow) -> None:
        """Law 2: what has arrived since the last reply is there, each result up to its cap."""
        shown = {p.call: p.output for b in made.blocks for p in _results(Message("tool", b.parts))}
        texts = _texts(made.window)
        for entry in self._unread(made):
            said = entry.body
            if not isinstance(said, Message):
                continue
            for part in said.parts:
                if isinstance(part, ToolResult):
                    assert shown.get(part.call) == part.output, f"the result {part.call} is hidden"
                elif isinstance(part, Text) and said.role in ("user", "developer"):
                    assert part.text in texts, f"what #{entry.seq} says is hidden"

    def check_pairs(self, made: PreparedWindow, log: list[Entry]) -> None:
        """Law 1: a call whose result is in the log is shown with it, or both are not."""
        branch = [entry for entry in log if not _left_behind(entry.seq, log)]
        answered = {part.call: entry.seq for entry in branch for part in _results(entry.body)}
        spans = self.s.view().spans
        shown = {p.call: p for b in made.blocks for p in b.parts if isinstance(p, ToolResult)}
        for entry in branch:
            for call in entry.body.calls if isinstance(entry.body, Message) else ():
                if call.id in answered:
                    both = within(entry.seq, spans), within(answered[call.id], spans)
                    assert both[0] == both[1], f"{call.id} was parted from its result"
                    answer = shown.get(call.id)  # what is not shown at all breaks law 6, not this
                    assert not both[0] or answer is None or answer.output != INTERRUPTED

    def check_seals(self, made: PreparedWindow, log: list[Entry]) -> None:
        """Law 1: byte-exact or absent."""
        known = [p for e in log if isinstance(e.body, Message) for p in e.body.parts if _sealed(p)]
        for part in (p for b in made.blocks for p in b.parts if _sealed(p)):
            assert part in known

    def check_around(self, made: PreparedWindow) -> None:
        """Law 7."""
        texts = _texts(made.window)
        assert SYSTEM in texts
        assert any(INSTRUCTIONS in text for text in texts)
        assert sum(PINNED in text for text in texts) == 1
        assert [tool.name for tool in made.window.tools] == [TOOL["name"]]

    def check_absences(self, made: PreparedWindow, log: list[Entry]) -> None:
        """Law 6."""
        shown = {block.seq for block in made.blocks}
        standing = in_force([entry for entry in log if not entry.is_message])
        for entry in log:
            if not isinstance(entry.body, Message) or entry.seq in shown:
                continue
            if entry.body.role == "tool":
                continue  # results move behind their calls, under one block
            assert absent(entry.seq, None, standing).marker, f"nobody says where {entry.seq} is"

    def check_markers(self, log: list[Entry]) -> None:
        """Laws 4 and 5 for what was compacted since, and what was undone stays as it was."""
        for entry in log:
            if entry.seq > self.looked and isinstance(entry.body, (Summary, Clear)):
                self._check_marker(entry, entry.body)
        self.looked = log[-1].seq

    def _check_marker(self, entry: Entry, body: Summary | Clear) -> None:
        before = self.s.view(entry.seq - 1).folded
        if isinstance(body, Summary):
            assert body.text.strip(), "an empty summary"
            assert all(span.last < entry.seq for span in body.covers), "it covers what came later"
            if self.voice and self.voice.temper in NEVER:
                assert not body.model, f"{body.text!r} was accepted"
        if body.step == "shed":
            return
        if body.trigger != "manual":
            if isinstance(body, Summary):
                again = [n for s in body.covers for n in (s.first, s.last)]
                assert not any(within(n, before.shielded) for n in again), "undone, and done again"
            else:
                assert not {*body.parts} & {*before.unclearable}, "undone, and done again"
        freed = self._estimated(entry.seq - 1) - self._estimated(entry.seq)
        promised = body.tokens_before - body.tokens_after
        assert freed >= promised - SLACK, f"{body.step} promised {promised}, and freed {freed}"

    def _estimated(self, seq: int) -> int:
        """What the window of that moment takes, by estimate."""
        turns = self.s._inner.turns
        turn = drive(turns.turn(model=self.model, **self._around()))
        return drive(turn.assembled(self.s.view(seq))).window.tokens.tokens

    def check_prefix(self, made: PreparedWindow) -> None:
        """Law 8."""
        epoch, blocks = made.folded.epoch, encoded(made)
        if self.last and self.last[:2] == (epoch, self.model):
            old = self.last[2]
            assert blocks[: len(old)] == old, "what was cached is no prefix"
        repaired = sum(block.source == "repair" for block in made.window.blocks[-1:])
        self.last = (epoch, self.model, blocks[: len(blocks) - repaired])

    def maintenance(self) -> int:
        """How many questions the store knows of."""
        calls = drive(self.s.store.calls.newest(self.s.id, 1_000))
        return sum(call.cause in CAUSES for call in calls)


def encoded(made: PreparedWindow) -> list[bytes]:
    """Every part of every message as it is sent, breakpoints left out."""
    request = codec("anthropic").encode(made.window, made.profile, made._chosen({"cache": False}))
    return [
        wire.encode({"role": message["role"], "part": part})
        for message in request["messages"]
        for part in message["content"]
    ]


def _texts(window: Window) -> list[str]:
    return [p.text for b in window.blocks for p in b.parts if isinstance(p, Text)]


def _requests(log: list[Entry]) -> list[Entry]:
    """What the user asked, on the branch that is gone on with."""
    spoken = [e for e in log if isinstance(e.body, Message) and is_request(e.body)]
    return [e for e in spoken if not _left_behind(e.seq, log)]


def _results(body: Any) -> list[ToolResult]:
    parts = body.parts if isinstance(body, Message) else ()
    return [part for part in parts if isinstance(part, ToolResult)]


def _sealed(part: Part) -> bool:
    return isinstance(part, Opaque) or getattr(part, "seal", None) is not None


def _left_behind(seq: int, log: list[Entry]) -> bool:
    """Whether a rewind in force has left an entry on a branch."""
    standing = in_force([entry for entry in log if not entry.is_message])
    rewinds = [e for e in standing if isinstance(e.body, Rewind)]
    return any(e.body.to < seq < e.seq for e in rewinds)  # type: ignore[union-attr]
