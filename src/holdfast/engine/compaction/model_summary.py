"""A summary written by a model: the whole of what it covers, in pieces that fit, and checked.

Rule 1: the models a policy names are asked in turn; each again with what was missing.
Rule 2: what does not fit one question is told piece by piece, each with the summary so far.
Rule 3: a summary that is not accepted is nothing: it is neither kept nor shown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.compaction.acceptance import CHECKED, answer, corrected, refusals
from holdfast.core.compaction.cache_economics import TOKENS, caches, is_cold
from holdfast.core.compaction.shed import without_oldest
from holdfast.core.compaction.situation import Situation
from holdfast.core.extract import digested
from holdfast.core.log.transcript_text import chunks, earlier, told
from holdfast.core.tokens.count import MESSAGE, tool_text
from holdfast.core.tokens.count import texts as texts_of
from holdfast.core.tokens.estimate import BOUND, estimate
from holdfast.core.window.layout import VOLATILE
from holdfast.core.window.scaffold import wrap
from holdfast.core.window.truncate import Cap, shorten, shown
from holdfast.engine import loading
from holdfast.engine.calls.ask import Answer, Guard, Like, Question, ask, like, room_for
from holdfast.engine.calls.last_call import newest_call
from holdfast.engine.compaction.lease import Lease
from holdfast.failpoints import failpoint
from holdfast.model.ledger import Ledger, Objection
from holdfast.model.log import Entry
from holdfast.model.plan import Plan
from holdfast.model.policy import Summarise
from holdfast.model.profile import Profile
from holdfast.model.span import Spans, clip, remaining, within, without
from holdfast.model.window import Block, Window

if TYPE_CHECKING:
    from holdfast.engine.window.turn_state import TurnState

PIECES = 64
"""A stretch that would take more questions than this is told without a model where it is oldest."""

ROOMY = 2
"""A model may write this many times the tokens that are wanted: its own may be smaller."""

FRAME = 256
"""What stands around a piece in its question."""

FOCUS = 400
"""What somebody wants a summary to dwell on is told within so many tokens."""

CONTINUING = (
    "This message comes from the program that manages the conversation, not from the user. Do not "
    "go on with the work, and call no tools: answer in words alone. What is called <conversation> "
    "below is all that stands above."
)
"""What a question begins with where it is put behind the conversation."""

SMALLEST = 256
"""A model that cannot be told so many tokens at once is not asked."""


class Draft(Struct, frozen=True, kw_only=True):
    """What a model made of the whole, or why it made nothing."""

    text: str = ""
    answer: Answer = Answer()
    covered: str = ""


class ModelSummary:
    """How one plan's summary is written."""

    def __init__(
        self,
        turn: TurnState,
        rule: Summarise,
        ledger: Ledger,
        plan: Plan,
        now: Situation,
        lease: Lease | None = None,
    ) -> None:
        self._turn = turn
        self._rule = rule
        self._ledger = ledger
        self._plan = plan
        self._now = now
        self._lease = lease
        self._told = False
        """Whether the conversation is told rather than continued, since that brought only calls."""
        self._finer = 1
        """How many times smaller the pieces are, since a model said that they were too large."""
        self._guard = Guard(turn.session, turn.policy)

    async def write(self, most: int, focus: str) -> None:
        """Give the plan a summary that was accepted; leave it without where none was."""
        for profile in self._models():
            missing: list[Objection] = []
            for _ in range(max(self._rule.tries, 1)):
                if why := await self._guard.why_not():
                    self._refuse([Objection(rule="guard", text="", why=why)])
                    return
                draft = await self._drafted(profile, most, focus, missing)
                missing = self._against(draft, most)
                if not missing:
                    self._plan.summary, self._plan.model = draft.text, profile.name
                    return
                self._refuse(missing)
                apart = draft.answer.called or draft.answer.refused
                again = draft.answer.overflow or (apart and not self._told)
                self._told |= apart
                self._finer *= 2 if draft.answer.overflow else 1
                if draft.answer.error and not again:
                    break  # it is not there: asking it again at once is asking for nothing

    def _models(self) -> list[Profile]:
        """Whom to ask, in order; with a weak model only where one was named."""
        session, main = self._turn.session, self._main()
        names = {"weak": session.upkeep.weak_model, "main": main}
        chosen = [names[role] for role in self._rule.models if names[role]]
        return [session.catalogue.profile(name) for name in dict.fromkeys(chosen)]

    def _main(self) -> str:
        """The session's model; the one before where a switch to a smaller one is the reason."""
        return self._now.previous or self._turn.given.model

    def _against(self, draft: Draft, most: int) -> list[Objection]:
        if draft.answer.error:
            return [Objection(rule="failed", text="", why=draft.answer.error)]
        return refusals(
            draft.text,
            draft.answer.stop,
            most=most,
            ledger=self._ledger if self._rule.ledger else None,
            covered=draft.covered,
            visible=remaining(self._now.view.spans, self._plan.covers, self._plan.kept),
        )

    def _refuse(self, found: list[Objection]) -> None:
        self._plan.objections = (*self._plan.objections, *found)

    async def _drafted(
        self, profile: Profile, most: int, focus: str, missing: list[Objection]
    ) -> Draft:
        """The summary of the whole, told piece by piece."""
        prompt = self._prompt(most, focus, missing)
        if draft := await self._continued(profile, prompt, most):
            return draft
        whole = room_for(profile, most * ROOMY) - estimate(prompt) - FRAME
        so_far, covered = shorten("\n\n".join(earlier(self._now.summaries)), whole // 2, "it"), ""
        room = (whole - max(estimate(so_far), most)) // self._finer
        room = await self._measured(profile, room)
        if room < SMALLEST:
            return Draft(answer=Answer(error=f"{profile.name} holds too little to be asked"))
        last = Answer()
        async for piece in self._pieces(room):
            last = await self._ask(profile, prompt, _body(so_far, piece), most)
            so_far = answer(last.text)
            covered = (covered + "\n" + piece)[-CHECKED:]
            if not _sound(last, most):
                break
        if self._rule.verify and _sound(last, most):
            so_far = await self._checked(profile, so_far, shorten(covered, room, "it"), most)
        return Draft(
            text=so_far, answer=last, covered="\n".join((covered, *earlier(self._now.summaries)))
        )

    async def _checked(self, profile: Profile, text: str, covered: str, most: int) -> str:
        """A summary as a second look at it leaves it; itself where that says nothing."""
        checking = self._turn.session.catalogue.prompt(self._rule.verify)
        last = await self._ask(profile, checking, _body(text, covered), most, "verify")
        return answer(last.text) if _sound(last, most) else text

    async def _continued(self, profile: Profile, prompt: str, most: int) -> Draft | None:
        """The conversation itself with the question behind it, where that fits its own model."""
        window = self._now.window
        if window is None or not self._continues(profile):
            return None
        if self._rule.form != "conversation":
            prompt = f"{CONTINUING}\n\n{prompt}"
        alike = await self._likeness(window)
        thinking = alike.options.thinking if alike else None
        thought = thinking if isinstance(thinking, int) else 0
        asked = ceil(estimate(prompt) * (1 + BOUND)) + FRAME + self._now.count.most
        before = window.blocks
        if profile.window - asked < most:
            before = self._without_tail(before)
            asked -= sum(block.tokens for block in window.blocks[len(before) :])
        left = profile.window - asked
        if left < most or asked > (profile.input_limit or profile.window):
            return None
        length = min(left, most * ROOMY + thought)
        reply = await self._ask(profile, "", prompt, most, before=before, length=length, like=alike)
        for _ in range(self._rule.tries if self._rule.failing == "drop" else 0):
            if reply.overflow:
                before = without_oldest(before)
                reply = await self._ask(profile, "", prompt, most, before=before, length=length)
        texts = [told(entry) for entry in self._now.entries]
        return Draft(text=answer(reply.text), answer=reply, covered="\n".join(texts)[-CHECKED:])

    def _continues(self, profile: Profile) -> bool:
        """Whether the question is put behind the conversation itself.

        So it is where a policy says so, and where what is cached would otherwise not be read. What
        somebody wants told of one stretch alone is told apart from the rest.
        """
        now = self._now
        own = profile.name == self._turn.given.model
        if not own or self._finer > 1 or self._told or now.since or now.upto:
            return False
        if self._rule.form == "conversation":
            return True
        warm = now.idle is not None and not is_cold(now.idle, profile)
        return self._rule.shares_cache and warm and caches(profile.price(now.tokens) or TOKENS)

    def _without_tail(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """The blocks without those at the end that stay word for word in any case."""
        plan, end = self._plan, len(blocks)
        while end and self._stays(blocks[end - 1], plan):
            end -= 1
        return blocks[:end]

    @staticmethod
    def _stays(block: Block, plan: Plan) -> bool:
        if not block.seq:
            return block.section in VOLATILE
        return block.seq in plan.kept or not within(block.seq, plan.covers)

    async def _likeness(self, window: Window) -> Like | None:
        """What a question has of the newest request, where its policy shares the cache."""
        if not self._rule.shares_cache:
            return None
        call = await newest_call(self._turn.session)
        return like(call, window.breakpoints)

    async def _ask(
        self,
        profile: Profile,
        system: str,
        prompt: str,
        most: int,
        cause: str = "summary",
        *,
        before: Sequence[Block] = (),
        length: int = 0,
        like: Like | None = None,
    ) -> Answer:
        failpoint("compaction.asking")
        question = Question(
            profile,
            system,
            prompt,
            cause=cause,
            most=length or most * ROOMY,
            before=before,
            tools=self._now.window.tools if before and self._now.window else (),
            timeout=self._rule.timeout,
            effort=self._rule.effort,
            like=like,
        )
        if not await self._fits(question):
            return Answer(error=f"{profile.name} cannot be asked so much at once", overflow=True)
        if self._lease and not await self._lease.renew():
            return Answer(error="somebody else has taken this over")
        self._plan.calls += 1
        reply = await ask(self._turn.session, question, lambda heard: _sound(heard, most))
        self._plan.cost += reply.cost
        return reply

    async def _fits(self, question: Question) -> bool:
        """Whether a question fits its model, by that model's own count where that is known."""
        profile = question.profile
        if not profile.tokenizer:
            return True
        words = [t for b in question.blocks for part in b.parts for t in texts_of(part)]
        tools = [tool_text(tool) for tool in question.window.tools]
        found = await self._turn.session.counter(profile.tokenizer).count([*words, *tools])
        frames = MESSAGE * len(question.blocks)
        return sum(found) + frames + question.max_tokens <= profile.window

    async def _measured(self, profile: Profile, room: int) -> int:
        """The room in estimated tokens: less where this model makes more of what is covered."""
        if not profile.tokenizer or room < SMALLEST:
            return room
        covered = [told(e) for e in self._now.entries if within(e.seq, self._plan.covers)]
        small = list(chunks(filter(None, covered), SMALLEST))
        found = await self._turn.session.counter(profile.tokenizer).count(small)
        pairs = zip(found, map(estimate, small), strict=True)
        worst = max((real / max(about, 1) for real, about in pairs), default=1.0)
        return int(room * min((1 + BOUND) / max(worst, 1.0), 1.0))

    def _prompt(self, most: int, focus: str, missing: list[Objection]) -> str:
        words = max(most * 3 // 5, 40)
        pieces = [
            self._turn.session.catalogue.prompt(self._rule.prompt),
            f"Write at most {words} words.",
        ]
        if focus:
            pieces.append(wrap("focus", shorten(focus, FOCUS, "it")))
        if missing:
            told = "An earlier attempt was not accepted. Mend this:\n" + corrected(missing)
            pieces.append(told)
        return "\n\n".join(pieces)

    def _cap(self) -> Cap:
        """How much of a result is read: facts and names are known without a model."""
        cap, most = self._turn.cap, self._rule.reads
        return replace(cap, tokens=min(cap.tokens or most, most)) if most else cap

    async def _pieces(self, tokens: int) -> AsyncIterator[str]:
        """All that is covered as text, in pieces that fit; the oldest in brief where it is much."""
        headings = self._rule.form == "headings"
        texts: list[str] = []
        log, id, cap = self._turn.stored, self._turn.session.id, self._cap()
        if older := self._older(tokens * (PIECES // 2 - 1)):
            texts.append(await self._brief(older, tokens))
        async for page in loading.pages(log, id, without(self._plan.covers, older)):
            texts += [told(shown(entry, cap), headings) for entry in page if entry.is_message]
            ready = list(chunks(filter(None, texts), tokens))
            for piece in ready[:-1]:
                yield piece
            texts = ready[-1:]
        for piece in texts:
            yield piece

    def _older(self, tokens: int) -> Spans:
        """What of the covered stretch lies behind its newest so many tokens.

        Two pieces that follow each other are together longer than one may be, so that twice as
        many tokens would still be few enough questions.
        """
        covers, now = self._plan.covers, self._now
        known = now.beyond_tokens <= now.budget.room  # what is more was not counted to its end
        if known and now.beyond_tokens + sum(map(_said, now.entries)) <= tokens:
            return ()
        taken = 0
        for entry in reversed([one for one in now.entries if within(one.seq, covers)]):
            taken += _said(entry)
            if taken > tokens:
                return clip(covers, 1, entry.seq)
        return clip(covers, 1, now.beyond[-1].last) if now.beyond else ()

    async def _brief(self, spans: Spans, tokens: int) -> str:
        """What is too far back to be told in full: the digest that is made without a model."""
        session = self._turn.session
        digest = await session.ledgers.digest(session.id, self._plan.covers[-1].last)
        return digested(digest, spans, tokens)


def _sound(heard: Answer, most: int) -> bool:
    """Whether an answer can be gone on from: finished, saying something, and short enough."""
    return not heard.error and not refusals(answer(heard.text), heard.stop, most=most)


def _said(entry: Entry) -> int:
    return estimate(told(entry)) + 1


def _body(so_far: str, piece: str) -> str:
    earlier = wrap("conversation_summary", so_far) if so_far else ""
    return "\n\n".join(filter(None, (earlier, wrap("conversation", piece))))
