"""`/resume`, `/fork`, `/search` and `/export`: this session among others, and beside itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from holdfast.cli.ui.format import many, path, program, runnable
from holdfast.cli.ui.terminal import fitted

if TYPE_CHECKING:
    from holdfast.cli.chat.conversation import Conversation
    from holdfast.engine.client import Session
    from holdfast.model.search import Hit

LISTED: Final = 8
"""So many sessions are listed."""

FOUND: Final = 10
"""So many places where something was said are listed."""

ENDINGS: Final = {".html": "html", ".htm": "html", ".md": "markdown", ".jsonl": "portable"}
"""The form a file is to have, by how its name ends."""


def resume(talk: Conversation, rest: str) -> None:
    """Go on with another session; without a name, list those that changed last."""
    if not rest:
        _list(talk)
        return
    from holdfast.agent.model_choice import led, whom
    from holdfast.cli.chat.last_said import show_last
    from holdfast.cli.chat.resume import in_advance, in_words, loaded

    talk.screen.busy("loading…")
    try:
        session = talk.opener.again(rest)
        talk.take(session, whom(led(session)))
        brought = loaded(session, talk.whom.model)
    finally:
        talk.screen.rest()
    talk.screen.say(f"going on with {session.id}: {in_words(brought)}")
    show_last(talk.screen, session)
    if ahead := in_advance(brought):
        talk.screen.say(ahead, "yellow")


def _list(talk: Conversation) -> None:
    from holdfast.agent.tools.subtask import is_subtask
    from holdfast.cli.sessions.list import shortened
    from holdfast.cli.ui.format import short_project
    from holdfast.engine.usage.periods import day_of

    found = talk.hf.sessions(limit=LISTED * 3)
    whole = [one for one in found if not is_subtask(one)]
    ids = shortened(talk.hf, [one.id for one in whole[:LISTED]])
    for one in whole[:LISTED]:
        words = fitted(one.title or talk.hf.opening(one), 32)
        told = (ids[one.id], day_of(one.updated), short_project(one), one.model, words)
        talk.screen.say(fitted(" · ".join(filter(None, told)), talk.screen.console.width - 1))
    more = (
        f"; there are more: `{program()} sessions{talk.opener.asked.again}` lists them"
        if len(whole) > LISTED
        else ""
    )
    talk.screen.say(f"/resume ID goes on with one{more}", "dim")


def fork(talk: Conversation, rest: str) -> None:
    """Go on in a copy of this session, up to an entry or all of it, with the same files."""
    before = talk.agent
    if not before.session.info.head:
        talk.screen.say("nothing was said yet, so there is nothing to fork")
        return
    made = talk.opener.forked(before.session, rest.removeprefix("#"))
    talk.take(made, talk.whom)
    for name, read_only in before.files.named():
        talk.agent.files.add(name, read_only=read_only)
    words = f"a fork with {many(made.info.head, 'entry')} of it goes on: {made.id}"
    talk.screen.say(f"{words}; /resume {before.session.id} goes back")


def search(talk: Conversation, rest: str) -> None:
    """What was said, in any session; a number shows one of what was found with what is around."""
    if not rest:
        talk.screen.say(
            "/search WORDS finds what was said in any session; /search N then shows the Nth of that"
        )
    elif talk.found and rest.isascii() and rest.isdigit() and 0 < int(rest) <= len(talk.found):
        _open(talk, talk.found[int(rest) - 1])
    else:
        _find(talk, rest)


def _find(talk: Conversation, words: str) -> None:
    from holdfast.cli.sessions.list import shortened
    from holdfast.cli.sessions.search import nothing, table

    talk.screen.busy("searching…")
    try:
        while talk.hf.index():
            pass
        hits = talk.hf.search(words, limit=FOUND)
        meant = "" if hits else talk.hf.respelled(words)
        hits = talk.hf.search(meant, limit=FOUND) if meant else hits
    finally:
        talk.screen.rest()
    if meant:
        talk.screen.say(f"nothing is found for {words!r}; did you mean {meant!r}?", "yellow")
    if not hits:
        talk.screen.say(nothing(talk.hf, words, 0, prefix=True))
        return
    talk.found = hits
    short = shortened(talk.hf, list(dict.fromkeys(hit.session for hit in hits)))
    talk.screen.console.print(table(hits, short, 0, talk.screen.console.width))
    talk.screen.say("/search 1 shows the first and what is around it", "dim")


def _open(talk: Conversation, hit: Hit) -> None:
    """What was found between what was said before and behind it."""
    from holdfast.cli.sessions.search import AROUND, sight
    from holdfast.cli.sessions.show_around import show_around

    session = talk.hf.session(hit.session)
    view = session.view(str(hit.seq))
    show_around(talk.opener.asked, session, view, AROUND, full=False, sight=sight(hit))
    here = hit.session == talk.agent.session.id
    talk.screen.say(f"/recall #{hit.seq} shows it whole" if here else
                    f"/resume {hit.session} goes on with that session", "dim")  # fmt: skip


def export(talk: Conversation, rest: str) -> None:
    """Write the session to a file: the form is named, or told by how the file's name ends."""
    from holdfast.cli.transcripts.export import FORMATS
    from holdfast.exporters.fidelity import in_lines

    session = talk.agent.session
    if not session.info.head:
        talk.screen.say("nothing was said yet, so there is nothing to export")
        return
    form, file = _wanted(session, rest, FORMATS)
    place = os.path.join(talk.agent.toolbox.root.path, os.path.expanduser(file))
    if os.path.exists(place) and not talk.screen.agreed(f"{file} is there; write over it?"):
        return
    talk.screen.busy("writing…")
    try:
        made: Any = talk.hf.export(session.id, form, file=place, model=talk.whom.model)
    finally:
        talk.screen.rest()
    talk.screen.say(f"{path(place)} is written, as {form}; it is readable by you alone")
    for line in in_lines(made.fidelity):
        talk.screen.say(runnable(line.replace("--raw", "`holdfast export --raw`")), "dim")


def _wanted(session: Session, rest: str, forms: tuple[str, ...]) -> tuple[str, str]:
    """The form and the file that were asked for; HTML where neither was said."""
    from holdfast.cli.chat.slash import words_of
    from holdfast.errors import InvalidRequest

    words = words_of(rest)
    form = next((word for word in words if word in forms), "")
    files = [word for word in words if word != form]
    if len(files) > 1:
        raise InvalidRequest("/export takes a form and a file, such as talk.html; name one of each")
    file = files[0] if files else f"holdfast-{session.id}{_ending(form or 'html')}"
    by_name = ENDINGS.get(os.path.splitext(file)[1].lower(), "")
    if not (form or by_name):
        named = ", ".join(forms)
        raise InvalidRequest(
            f"{file} does not say which form: end it .html or .md, or name one of {named}"
        )
    return form or by_name, file


def _ending(form: str) -> str:
    return next((ending for ending, one in ENDINGS.items() if one == form), ".json")
