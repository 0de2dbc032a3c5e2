"""Handing a session over: its live window, ledger and summary, where another program goes on.

Rule 1: the session itself is left as it is; what is handed over is a copy of what it shows now.
Rule 2: the copy says where it comes from, and what the log says exactly.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.render import render
from holdfast.core.neutralise import neutral
from holdfast.core.secrets import masked
from holdfast.engine import loading
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.calls.learned_limits import profile_at
from holdfast.engine.exporting.export import Exporting, entitled
from holdfast.engine.exporting.output_path import placing
from holdfast.engine.inspect.explain import UNKNOWN
from holdfast.engine.inspect.ledger import current
from holdfast.engine.window.turn_state import TurnState
from holdfast.errors import InvalidRequest
from holdfast.exporters import claude_code, codex, markdown
from holdfast.exporters.fidelity import honest, many
from holdfast.exporters.native import named
from holdfast.exporters.readable import Calls
from holdfast.files import Root, private_directory
from holdfast.model.log import Entry
from holdfast.model.message import Message, Part
from holdfast.model.portable import Fidelity

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.turns import Turns

TARGETS = ("claude-code", "codex", "chat", "markdown")

LEDGER = 4_000
"""How long the ledger is that goes along, in tokens."""

MISSING = "the messages that summaries stand for, and everything beside the conversation"


class Handed(Struct, frozen=True, kw_only=True):
    """A session as another program takes it."""

    to: str
    id: str
    """What it is called there."""
    name: str = ""
    """Where the program looks for it, beneath its own directory."""
    data: bytes = b""
    command: tuple[str, ...] = ()
    """What goes on with it, in the session's directory."""
    directory: str = ""
    fidelity: Fidelity = Fidelity(carried=())


async def hand_over(
    session: SessionContext,
    turns: Turns,
    to: str,
    *,
    directory: str,
    model: str = "",
    raw: bool = False,
) -> Handed:
    """What a program needs to go on with a session; nothing is written yet."""
    if to == "chat":
        command = ("holdfast", "chat", "--resume", session.id, *(("-m", model) if model else ()))
        return Handed(to=to, id=session.id, command=command, directory=directory)
    if to == "markdown":
        return await _document(session, raw=raw)
    if to not in TARGETS:
        raise InvalidRequest(
            f"nobody of the name {to!r} can take it; name one of {', '.join(TARGETS)}"
        )
    exporting = Exporting(session, turns, to, model=model, raw=raw)
    live = await exporting.live(await _preface(session, raw=raw))
    live = replace(live, directory=directory or live.directory)
    carried = [*exporting.fidelity.carried, "the ledger, as text before the conversation"]
    fidelity = replace(exporting.fidelity, carried=tuple(carried))
    id = named(live, to)
    if to == "claude-code":
        name, data = (
            claude_code.session_file(live.directory, id),
            claude_code.export(live, fidelity),
        )
        command = ("claude", "--resume", id)
    else:
        name = codex.session_file(live.now, id)
        data = codex.export(live, fidelity)
        command = ("codex", "resume", id)
    return Handed(
        to=to, id=id, name=name, data=data, command=command, directory=live.directory,
        fidelity=fidelity,
    )  # fmt: skip


def put(handed: Handed, home: Path) -> Path:
    """Lay it where its program looks for it, for its owner alone; the file."""
    with placing(home):
        if not home.exists():
            private_directory(home)
        root, name = Root(home), Path(handed.name)
        root.make_directory(str(name.parent))
        root.write(handed.name, handed.data)
        return root.path / name


async def _preface(session: SessionContext, *, raw: bool) -> str:
    """What whoever goes on is told first."""
    info, id = session.info, quote(session.id)
    facts = render(await current(session.ledgers, session.store.log, await session.view()), LEDGER)
    begun = f"in {info.agent}" if info.agent else "elsewhere"
    led = f" with {info.model}" if info.model else ""
    told = (
        f"This conversation was begun {begun}{led} and goes on here. What follows is what its"
        " model saw last; tools that it names may be missing here. Every word of it is kept:"
        f" `holdfast show {id} --all` prints it, `holdfast recall {id} HANDLE`"
        " brings back what a handle stands for.\n"
    )
    told += f"\nWhat its log says exactly:\n\n{facts}\n" if facts else ""
    return told if raw else masked(told)


async def _document(session: SessionContext, *, raw: bool) -> Handed:
    """A text for whoever can be given one: the ledger, then what the model sees."""
    view = await session.view()
    seen = [entry async for page in loading.seen(session.store.log, view) for entry in page]
    parts = await _shown(session)
    entries = [_as_shown(entry, parts) for entry in seen]
    calls = Calls()
    told = [calls.named(entry) for entry in entries]
    shown = told if raw else [masked(entry) for entry in told]
    facts = await _preface(session, raw=raw)
    said = many(sum(entry.is_message for entry in entries), "message")
    carried = [f"{said}: what the model sees now", "the ledger"]
    gone = len(view.folded.cleared)
    left = many(gone, "cleared output") + ", of which the handles are here" if gone else ""
    missing = [MISSING, *filter(None, [left])]
    fidelity = honest(carried, missing, raw=raw)
    info = await entitled(session, session.info, raw=raw)
    text = (
        f"{markdown.begin(info)}\n{neutral(facts)}{markdown.entries(shown)}{markdown.end(fidelity)}"
    )
    data = text.encode("utf-8", "replace")
    return Handed(to="markdown", id=session.id, data=data, fidelity=fidelity)


async def _shown(session: SessionContext) -> dict[int, tuple[Part, ...]]:
    """What the window shows of each entry: outputs cut, and a handle for what was cleared."""
    given = await given_now(session)
    given = replace(given, model=given.model or UNKNOWN)
    view = await session.view()
    profile = await profile_at(session, given.model, view)
    turn = TurnState(session, given, profile, await session.policy(given.policy))
    window = (await turn.assembled(view)).window
    found: dict[int, tuple[Part, ...]] = {}
    for block in window.blocks:
        if block.seq:
            found[block.seq] = (*found.get(block.seq, ()), *block.parts)
    return found


def _as_shown(entry: Entry, parts: dict[int, tuple[Part, ...]]) -> Entry:
    if not isinstance(entry.body, Message) or entry.seq not in parts:
        return entry
    return replace(entry, body=replace(entry.body, parts=parts[entry.seq]))
