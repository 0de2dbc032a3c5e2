"""What a provider did to the context by itself becomes markers of our own.

Rule 1: what it cleared is a Clear, what it compacted a Summary, both with the trigger `server`;
        each can be undone, explained and recalled like any other.
Rule 2: its compaction goes back to itself only. Everybody else reads its words where the ledger has
        nothing against them, otherwise the digest that is made without a model.
Rule 3: where another marker came meanwhile, or nobody knows what was sent, nothing is marked: what
        was said is then sent as it is, and the provider does its work again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from holdfast.core.compaction.acceptance import CHECKED, refusals
from holdfast.core.compaction.provider_edits import cleared, kept
from holdfast.core.extract import extract
from holdfast.core.ledger.render import render
from holdfast.core.log.transcript_text import earlier, told
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.recall import expandable
from holdfast.engine import loading
from holdfast.engine.inspect.ledger import packed
from holdfast.errors import Conflict
from holdfast.model.ledger import Ledger
from holdfast.model.log import Clear, Entry, Marker, Summary
from holdfast.model.message import Message, Opaque, SummaryText, ToolCall, ToolResult
from holdfast.model.reply import Reply
from holdfast.model.span import Span, Spans, union, within, without
from holdfast.model.view import View

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.window.prepared_window import SentRequest

SHARE = 16
MOST = 2_048
"""The digest that stands for a sealed compaction elsewhere takes a sixteenth of the model's window,
and no more than so many tokens; facts and handles beside it take half of that each."""

NOTHING = "Besides the facts beside it nothing was said that has to be carried on."

LONGEST = 32_768
"""A provider's own words may be this long."""


async def apply(session: SessionContext, sent: SentRequest, reply: Reply, entry: Entry) -> None:
    """Mark what was done to a request that has been answered."""
    if reply.stop in ("aborted", "error"):
        return
    view = View(session=session.info, folded=sent.window.folded, last=sent.window.head)
    spans = view.spans  # what was sent: what arrived while the model answered is not covered
    found = await loading.read(session.store.log, session.id, spans)
    said = [one for one in found if one.is_message]
    if reply.compaction is not None:
        marker: Marker | None = await _summary(session, sent, reply, entry, view, said)
    else:
        marker = _clear(sent, reply, said)
    if marker is None:
        return
    try:
        await session.append(marker, epoch=sent.window.folded.epoch)
    except Conflict:
        return


def _clear(sent: SentRequest, reply: Reply, said: Sequence[Entry]) -> Clear | None:
    gone = sent.window.folded.cleared
    parts = cleared(said, reply.edits, sent.options.server_edits, gone)
    if not parts:
        return None
    freed = sum(edit.cleared_tokens for edit in reply.edits)
    before = sent.window.tokens
    return Clear(
        parts=parts,
        reason=f"{reply.provider} left them out by itself",
        step="server",
        trigger="server",
        policy=sent.window.policy_name,
        tokens_before=before,
        tokens_after=max(before - freed, 0),
        prompt_before=before,
        prompt_after=max(before - freed, 0),
    )


async def _summary(
    session: SessionContext,
    sent: SentRequest,
    reply: Reply,
    entry: Entry,
    view: View,
    said: Sequence[Entry],
) -> Summary | None:
    assert reply.compaction is not None
    sealed = reply.message.parts[reply.compaction]
    standing = await loading.summaries(session.store.log, view)
    before = [one.body.covers for one in standing if isinstance(one.body, Summary)]
    covers = reduce(union, before, view.spans)
    if not covers or not isinstance(sealed, Opaque):
        return None
    ledger = await session.ledgers.near(session.id, covers[-1].last, standing)
    words = _Words(sent, ledger, said, earlier(standing))
    text = words.text(_readable(reply))
    if reply.stop == "compaction":  # there is nothing in it besides
        covers = _paused(covers, _tail(sent, said), entry.seq)
    asked = tuple(seq for seq in kept(said, reply.stop) if within(seq, covers))
    return Summary(
        covers=covers,
        text=text,
        kept=asked,
        asked=asked[0] if asked else 0,
        merges=tuple(one.seq for one in standing),
        trigger="server",
        step="server",
        policy=sent.window.policy_name,
        model=reply.model,
        prompt_before=sent.window.tokens,
        tokens_before=sent.window.tokens,
        tokens_after=min(estimate(text), sent.window.tokens),
        ledger=words.ledger,
        facts=packed(ledger, session.secrets),
        expand=words.expand,
        reason=f"{reply.provider} compacted by itself{words.why}",
        sealed=sealed,
    )


def _paused(covers: Spans, tail: int, paused: int) -> Spans:
    """What a summary covers that its provider stopped behind: all before a tail that stays, since
    it stands there; without a tail all, and the stop itself."""
    if tail:
        return without(covers, (Span(tail, covers[-1].last),))
    return union(covers, (Span(paused, paused),))


def _tail(sent: SentRequest, said: Sequence[Entry]) -> int:
    """Where the newest messages begin that stay behind a provider's pause; 0 where none do.

    A call is never parted from its results, so that they may begin a little earlier.
    """
    policy = sent.window.policy
    rule = policy.compact or policy.summarise if policy else None
    if rule is None or not (rule.pause and rule.keeps) or len(said) <= rule.keeps:
        return 0
    at = len(said) - rule.keeps
    while at and _answers_calls(said[at]):
        at -= 1
    return said[at].seq if at else 0


def _answers_calls(entry: Entry) -> bool:
    parts = entry.body.parts if isinstance(entry.body, Message) else ()
    return any(isinstance(part, ToolResult) for part in parts)


def _readable(reply: Reply) -> str:
    """What a provider tells of its compaction; empty where it tells nothing."""
    behind = (reply.compaction or 0) + 1
    part = reply.message.parts[behind] if behind < len(reply.message.parts) else None
    return part.text if isinstance(part, SummaryText) else ""


class _Words:
    """What stands for a sealed compaction with everybody but its owner."""

    def __init__(
        self, sent: SentRequest, ledger: Ledger, said: Sequence[Entry], before: list[str]
    ) -> None:
        self._ledger, self._said, self._before = ledger, said, before
        self._most = min(MOST, max(sent.window.profile.window // SHARE, 128))
        self.ledger = render(ledger, self._most // 2)
        self.expand = expandable(said, _calls(said), self._most // 2)
        self.why = ""
        """Why the words are not its own, where they are not."""

    def text(self, theirs: str) -> str:
        """The provider's own words, where they hold; otherwise a digest."""
        if theirs:
            covered = "\n".join([*map(told, self._said), *self._before])[-CHECKED:]
            against = refusals(
                theirs, "end", most=LONGEST, ledger=self._ledger, covered=covered, visible=()
            )
            if not against:
                return theirs
            self.why = f"; its words elsewhere were refused: {against[0].why}"
        else:
            self.why = "; nobody but itself can read it"
        digest = extract(
            self._said, self._before, self._most, ledger=self._ledger, beside=self.ledger
        )
        return digest or NOTHING


def _calls(said: Sequence[Entry]) -> dict[str, ToolCall]:
    bodies = (one.body for one in said)
    parts = (part for body in bodies if isinstance(body, Message) for part in body.parts)
    return {part.id: part for part in parts if isinstance(part, ToolCall)}
