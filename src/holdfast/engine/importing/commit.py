"""The one way by which an import writes: what was brought, its calls priced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.core.calls.price import cost
from holdfast.errors import Conflict, InvalidRequest, StoreError
from holdfast.failpoints import failpoint
from holdfast.model import wire
from holdfast.model.import_batch import ImportBatch, Source
from holdfast.model.log import Body
from holdfast.model.message import Message, Record, Text, ToolCall, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.reply import Call

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext

LONG = 8_192
"""The facts of so many entries are gathered at import; those of fewer, when they are needed."""

TOLD = "told"
"""The version of a price that the program itself has told."""


async def bring(
    engine: ImportContext, *brought: ImportBatch, sources: Sequence[Source] = ()
) -> tuple[int, ...]:
    """Write what was brought; how many calls of each were new.

    Conflict where a session that was thought to be new is there.
    """
    known = cache(engine.catalogue.profile)
    priced = [
        replace(one, calls=tuple([_priced(call, known) for call in one.calls])) for one in brought
    ]
    try:
        calls = await engine.store.imports.commit(*priced, sources=sources)
    except InvalidRequest as refused:
        if not any(one.new for one in brought):
            raise
        raise Conflict(brought[0].session, 0, 0) from refused
    failpoint("import.after_bring")
    for one in brought:
        await _gather(engine, one.session)
    engine.appended = engine.appended or any(one.drafts or one.laid for one in brought)
    return calls


async def _gather(engine: ImportContext, session: str) -> None:
    """Gather the facts of a session that has grown long, so that its first window need not."""
    found = await engine.store.sessions.find(session)
    if found is None or found.head < LONG:
        return
    from holdfast.engine.inspect.ledger import VERSION, Ledgers  # most sessions are short

    known = await engine.store.snapshots.newest(session, found.head, VERSION)
    if found.head - (known[0] if known else 0) >= LONG:
        with suppress(StoreError):  # they are gathered again when they are needed
            await Ledgers(engine.store, engine.secrets).at(session, found.head)


def _priced(call: Call, known: Callable[[str], Profile]) -> Call:
    """A call with what it cost, where that is known and nobody has told it."""
    if call.cost is not None or not call.model:
        return call
    profile = known(call.model)
    price = cost(call.usage, profile, call.iterations, known)
    if price is None or price >= wire.LARGEST:
        return call
    return replace(call, cost=price, price_version=profile.price_version)


def bulk(body: Body) -> int:
    """About how many bytes a body takes."""
    if not isinstance(body, Message):
        return 1_000
    return sum([_SIZES.get(type(part), _any_size)(part) for part in body.parts])


def _any_size(part: Any) -> int:
    return 64 + sum(
        len(value)
        for name in ("text", "output", "input", "data")
        if isinstance(value := getattr(part, name, ""), (str, bytes))
    )


_SIZES: dict[type, Callable[[Any], int]] = {
    Text: lambda part: 64 + len(part.text),
    ToolCall: lambda part: 64 + len(part.input),
    ToolResult: lambda part: 64 + len(part.output),
    Record: lambda part: 64 + len(part.data),
}
