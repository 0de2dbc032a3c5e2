"""How large the window to send really is: an estimate first, and certainty where it matters.

The estimate is corrected by what this session's calls have reported, and anchored on the last of
them while nothing but the tail has changed. Only when it might not fit if the estimate were far off
is the exact counter asked, or the provider; what was counted once is kept for later windows.

A report is believed only where it can be true. And where a vocabulary is at hand, nothing that was
estimated at more than fits is said to fit before it has been counted, whatever was reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.compaction.provider_edits import edits
from holdfast.core.tokens.calibrate import (
    SLACK,
    anchored,
    calibrated,
    certain,
    counted,
    credible,
    plausible,
    ratio,
)
from holdfast.core.tokens.count import (
    CALL,
    MESSAGE,
    WEIGHED,
    plain,
    texts,
    tool_text,
    unsure,
    weigh,
    weigh_tools,
)  # fmt: skip
from holdfast.core.tokens.estimate import BOUND
from holdfast.engine.calls.last_call import newest_calls
from holdfast.engine.plugins import codec
from holdfast.errors import ProviderError
from holdfast.model import wire
from holdfast.model.log import Entry, Folded, PartRef
from holdfast.model.message import Message, Part, ToolCall, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.reply import Call
from holdfast.model.view import View
from holdfast.model.window import Block, Budget, Count, Options, Window
from holdfast.ports import Counter

if TYPE_CHECKING:
    from holdfast.engine.window.turn_state import Assembled, TurnState

FORMATS = {"anthropic": "anthropic", "openai": "openai-responses", "google": "gemini"}
"""The format in which a provider's endpoint counts."""

VAGUE = 0.05
"""An estimate that may be off by more than this share decides on no compaction."""

HOPE = 2.0
"""Where counting costs little, up to twice the room is counted before it is said not to fit."""


class TokenCount:
    """How the windows of one session are counted, for one turn."""

    def __init__(self, turn: TurnState, *, asks: bool | None = None) -> None:
        """`asks`: whether the provider's endpoint is asked, for a window that is sent and a
        compaction by hand; a preview is shown often, and makes do with the estimate."""
        self._turn = turn
        self._session, self._profile, self._policy = turn.session, turn.profile, turn.policy
        self._given = wire.digest(turn.encoded).hex()
        self._asks = turn.asks if asks is None else asks
        self._calls: tuple[Call, ...] = ()
        self.ratio = turn.profile.ratio
        self._returned: int | None = None
        self._last: tuple[Window, Count] | None = None
        self._doubted: Window | None = None
        self.weighed = 0
        """What the window that was counted last is estimated at."""

    async def begin(self) -> TokenCount:
        """Learn from the newest calls of the session, and of what it was forked from."""
        self._calls = await newest_calls(self._session)
        self.ratio = ratio(self._pairs(), self._profile.ratio)
        self._returned = await self._marker_behind_the_same()
        return self

    async def _marker_behind_the_same(self) -> int | None:
        """The newest marker, where what came since the newest call was taken back; None elsewhere.

        Then what is seen is what that call was sent, as if there had been no marker.
        """
        call = next((one for one in self._calls if one.cause == "turn"), None)
        if call is None or not call.head or call.given != self._given:
            return None
        now = await self._session.view()
        if now.folded.epoch in (0, call.epoch):
            return None
        then = await self._session.view(str(call.head))
        return now.folded.epoch if _shown(then.folded) == _shown(now.folded) else None

    @property
    def spoken_to(self) -> str:
        """The model of the newest turn; empty where there was none."""
        return next((call.model for call in self._calls if call.cause == "turn"), "")

    @property
    def _endpoint(self) -> Counter | None:
        """What counts for this model's provider, where there is one that may be asked."""
        if not self._asks:
            return None
        endpoint, provider = self._session.endpoint, self._profile.provider
        serves = getattr(endpoint, "serves", None)
        if serves is not None:
            return endpoint if serves(provider) else None
        return endpoint if endpoint and endpoint.name == provider else None

    def hopeful(self, budget: Budget) -> Budget:
        """The budget in estimated tokens, as much as may turn out to fit after all."""
        hope = HOPE if self._profile.tokenizer else 1 + BOUND
        return tuned(budget, min(hope / self.ratio, HOPE))

    def careful(self, budget: Budget) -> Budget:
        """The budget in estimated tokens: what will fit, if need be at the worst."""
        if self._profile.tokenizer or self._endpoint:
            return tuned(budget, 1 / self.ratio)
        worst = (budget.room + budget.margin - SLACK) / max(budget.room, 1) / (1 + BOUND)
        return tuned(budget, min(worst, 1.0) / self.ratio)

    async def of(self, made: Assembled) -> Count:
        """The count of an assembled window, as sure as it has to be; found out once."""
        if self._last is None or self._last[0] is not made.window:
            view, cut = made.view, self._session.message_cache.cut
            own = [e for e in made.seen.messages if e.seq <= view.last and e.seq not in cut]
            estimated = self.estimated(made.window)
            sure = made.window is self._doubted
            count = await self.settled(made.window, estimated, Shown(own, view), sure=sure)
            self._last, self.weighed = (made.window, count), estimated
        return self._last[1]

    def doubts(self, window: Window | None, count: Count) -> bool:
        """Whether the endpoint is to say what a window takes before a compaction is decided on.

        Then it will be counted once more, for sure; once in a turn, since that may fail.
        """
        asks = self._policy.counts_with == "provider" and self._endpoint is not None
        vague = count.tier == "estimate" and count.error > count.tokens * VAGUE
        if window is None or self._doubted is not None or not (asks and vague):
            return False
        self._doubted, self._last = window, None
        return True

    async def settled(
        self, window: Window, estimated: int, shown: Shown, *, sure: bool = False
    ) -> Count:
        """The count of a window: as sure as it has to be, or as it can be."""
        about = self.about(window, estimated, shown.view.folded.epoch)
        always = self._policy.counts_with == "exact" and self._profile.tokenizer
        doubtful = self._profile.tokenizer and estimated > window.budget.room
        if certain(about, window.budget) and not (always or doubtful or sure):
            return about
        return await self._sure(window, shown) or about

    def about(self, window: Window, estimated: int, epoch: int) -> Count:
        """The estimate, anchored on the last call where that still stands."""
        call = self._anchor(epoch)
        if call is None:
            return calibrated(estimated, self.ratio)
        known, tail = _since(call, window)
        return anchored(known, sum(block.tokens for block in tail), self.ratio)

    def own(self, made: Assembled) -> int:
        """The same as a policy counts that has a way of its own; 0 where it has none."""
        weighs = WEIGHED.get(self._policy.counts_with, weigh)
        if weighs is weigh:
            return 0
        call, window = self._anchor(made.view.folded.epoch), made.window
        known, tail = _since(call, window) if call else (0, window.blocks)
        tools = 0 if call else weigh_tools(window.tools)
        return known + tools + sum(weighs(part) for block in tail for part in block.parts)

    async def exactly(self, view: View) -> dict[PartRef, int]:
        """What the parts of a view take, where the policy wants that counted and it has been."""
        if self._policy.counts_with != "exact" or not self._profile.tokenizer:
            return {}
        counter = self._session.counter(self._profile.tokenizer)
        return await self._session.message_cache.known(view, counter.name)

    def estimated(self, window: Window) -> int:
        """What the window takes by estimate, pictures as this model counts them."""
        vague = [part for block in window.blocks for part in block.parts if not plain(part)]
        more = sum(unsure(part, self._profile) - unsure(part) for part in vague)
        return window.tokens.tokens + more

    def _anchor(self, epoch: int) -> Call | None:
        """The last call, where all it was sent is still the beginning of what would be sent now."""
        call = next((one for one in self._calls if one.cause == "turn"), None)
        if call is None or call.outcome != "done" or call.iterations:
            return None
        if not plausible(call.estimated, call.usage.prompt):
            return None
        same = call.given and call.given == self._given and epoch in (call.epoch, self._returned)
        return call if same and call.entry else None

    def _pairs(self) -> list[tuple[int, int]]:
        """Estimated and reported, oldest first, of calls to models that count as this one does."""
        return [
            (call.estimated, call.usage.prompt)
            for call in reversed(self._calls)
            if call.outcome == "done" and not call.iterations and self._alike(call.model)
        ]

    def _alike(self, model: str) -> bool:
        other = self._session.catalogue.profile(model)
        mine = self._profile
        return (other.provider, other.tokenizer, other.ratio) == (
            mine.provider, mine.tokenizer, mine.ratio,
        )  # fmt: skip

    async def _sure(self, window: Window, shown: Shown) -> Count | None:
        """The exact count, or the provider's; None where nobody can be asked."""
        if self._policy.counts_with == "provider" or not self._profile.tokenizer:
            told = await self._asked(window, shown)
            if told or not self._profile.tokenizer:
                return told
        return await self._exact(window, shown, self._session.counter(self._profile.tokenizer))

    async def _asked(self, window: Window, shown: Shown) -> Count | None:
        endpoint, format = self._endpoint, FORMATS.get(self._profile.provider)
        if endpoint is None or format is None or self._is_refused(window):
            return None
        options = Options(
            max_tokens=max(window.budget.output, 1),
            server_edits=edits(
                self._policy, self._profile, thinking=False, folded=shown.view.folded,
                blocks=window.blocks,
            ),
        )  # fmt: skip
        request = codec(format).encode(window, self._profile, options)
        try:
            return await endpoint.count_request(request, format)
        except ProviderError:
            return None  # an endpoint that fails must not keep a turn from being prepared

    def _is_refused(self, window: Window) -> bool:
        """Whether the endpoint would refuse it: a window that ends in a reply is not sent so."""
        ends_in_reply = bool(window.blocks) and window.blocks[-1].role == "assistant"
        return ends_in_reply and not self._profile.can("prefill")

    async def _exact(self, window: Window, shown: Shown, counter: Counter) -> Count:
        visible = self._session.message_cache
        tally = Tally(shown, await visible.known(shown.view, counter.name))
        for block in window.blocks:
            tally.add(block)
        found = await counter.count([*tally.missing, *map(tool_text, window.tools)])
        visible.learn(self._session.id, counter.name, tally.learn(found[: len(tally.missing)]))
        await self._turn.log.write_counts()
        sure, vague = frames(window.blocks, self._profile)
        return counted(sum(found) + tally.known + sure + vague, "exact", vague)


class Shown:
    """What of the log a window shows, so that counts of its parts can be found and kept."""

    def __init__(self, messages: Sequence[Entry], view: View) -> None:
        self.view = view
        self._parts = {e.seq: e.body.parts for e in messages if isinstance(e.body, Message)}

    def holds(self, block: Block) -> bool:
        """Whether a block is an entry of the log just as it is kept there."""
        return bool(block.seq) and self._parts.get(block.seq) is block.parts


class Tally:
    """What is known of the parts of a window, and which texts must still be counted."""

    def __init__(self, shown: Shown, known: dict[PartRef, int]) -> None:
        self._shown, self._known = shown, known
        self._places: list[PartRef | None] = []
        self.missing: list[str] = []
        self.known = 0

    def add(self, block: Block) -> None:
        """Take in one block: what its parts took before, or their texts."""
        if not self._shown.holds(block):
            for part in block.parts:
                self._miss(part, None)
            return
        for ordinal, part in enumerate(block.parts):
            ref = PartRef(block.seq, ordinal)
            tokens = self._known.get(ref)
            if tokens is None:
                self._miss(part, ref)
            else:
                self.known += tokens

    def _miss(self, part: Part, ref: PartRef | None) -> None:
        for text in texts(part):
            self._places.append(ref)
            self.missing.append(text)

    def learn(self, found: Sequence[int]) -> dict[PartRef, int]:
        """The counts of parts of the log that were not known before."""
        learned: dict[PartRef, int] = {}
        for ref, tokens in zip(self._places, found, strict=True):
            if ref is not None:
                learned[ref] = learned.get(ref, 0) + tokens
        return learned


def _shown(folded: Folded) -> Folded:
    """What markers leave to be seen, without what only later compactions have to know."""
    return replace(folded, shielded=(), unclearable=(), epoch=0)


def frames(blocks: Sequence[Block], profile: Profile) -> tuple[int, int]:
    """What stands around the words of some blocks: what is known of it, and what is not."""
    sure, vague = MESSAGE * len(blocks), 0
    for block in blocks:
        for part in block.parts:
            kind = type(part)
            if kind is ToolCall or kind is ToolResult:
                sure += CALL
            if not plain(part):
                vague += unsure(part, profile)
    return sure, vague


def _since(call: Call, window: Window) -> tuple[int, Sequence[Block]]:
    """What a call has reported, its reply included, and the blocks that have come since."""
    tail = [b for b in window.blocks if b.seq > call.head and b.entry != call.entry]
    return call.usage.prompt + _replied(call, window), tail


def _replied(call: Call, window: Window) -> int:
    """What the reply of a call takes, as reported, as long as that can be true."""
    shown = next((block for block in window.blocks if block.entry == call.entry), None)
    return credible(call.usage.output, shown.tokens) if shown else call.usage.output


def less(budget: Budget, tokens: int) -> Budget:
    """A budget with so many tokens spent already."""
    left = max(budget.room - tokens, 0)
    return replace(budget, room=left, history=min(budget.history, left))


def tuned(budget: Budget, by: float) -> Budget:
    """A budget whose tokens are worth more or less than those it is spent in."""
    return replace(budget, room=int(budget.room * by), history=int(budget.history * by))
