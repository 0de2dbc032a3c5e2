"""Taking back whole turns: the conversation goes on from before them, files stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.core.log.boundary import is_request
from holdfast.engine import loading
from holdfast.errors import InvalidRequest
from holdfast.model.message import Message

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


async def before_turns(session: SessionContext, turns: int) -> int:
    """The entry to go on from, so that the last turns of the user's are taken back."""
    if turns < 1:
        raise InvalidRequest(f"{turns} turns cannot be taken back; name 1 or more")
    view = await session.view()
    visible = await loading.read(session.store.log, session.id, view.spans)
    begun = [e.seq for e in visible if isinstance(e.body, Message) and is_request(e.body)]
    if len(begun) < turns:
        raise InvalidRequest(
            f"only {len(begun)} turns are in the window, so {turns} cannot be taken back; undo the "
            "compactions before them first, or rewind to an entry"
        )
    return begun[-turns] - 1
