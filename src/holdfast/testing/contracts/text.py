"""Text is text: whatever went in comes back, wherever it stood."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest
from holdfast.model.job import Job
from holdfast.model.log import Checkpoint, Clear, Context, Pin, Repair, Rewind, Summary, Switch
from holdfast.model.message import Message, user
from holdfast.model.span import EVERYTHING, Span
from holdfast.model.store import Changes, Page
from holdfast.ports import Store
from holdfast.testing.factories import (
    HOSTILE,
    append,
    call,
    draft,
    every_part,
    job,
    read_all,
    session,
    start,
)

from .base import Contract

hostile = pytest.mark.parametrize("text", HOSTILE, ids=ascii)


class TextContract(Contract):
    """NUL, lone surrogates, line separators, ten million characters."""

    @hostile
    def test_parts_of_every_kind_hold_any_text(self, store: Store, text: str) -> None:
        id = start(store)
        made = append(store, id, Message("user", every_part(text)), Message("tool", ()))
        again = self.reopen(store)
        assert read_all(again, id) == made
        assert drive(again.log.heads(id, EVERYTHING))[0].kinds[0] == "text"

    @hostile
    def test_markers_of_every_kind_hold_any_text(self, store: Store, text: str) -> None:
        id = start(store)
        markers = (
            Summary(covers=(Span(1, 1),), text=text, ledger=text, reason=text, model=text),
            Clear(parts=(), reason=text, policy=text),
            Pin(fact=text, path=text),
            Rewind(to=0, reason=text),
            Checkpoint(label=text),
            Context(sections={text: text}),
            Switch(model=text, policy=text),
            Repair(rule=text, owner=text, reason=text),
        )
        append(store, id, *markers)
        assert tuple(e.body for e in read_all(self.reopen(store), id)) == markers

    @hostile
    def test_labels_of_an_entry_hold_any_text(self, store: Store, text: str) -> None:
        id = start(store)
        said = draft("x", parent=text, provider=text, model=text, request=text)
        made = drive(store.log.append(id, [said], key=text))
        assert read_all(store, id) == made
        assert (made[0].parent, made[0].provider, made[0].request) == (text, text, text)

    @hostile
    def test_keys_hold_any_text(self, store: Store, text: str) -> None:
        id = start(store)
        made = append(store, id, "a", key=f"{text}!")
        assert append(store, id, "a", key=f"{text}!") == made
        assert made[0].key == f"{text}!"
        assert append(store, id, "b", key=f"{text}?")[0].seq == 2

    @hostile
    def test_sessions_hold_any_text(self, store: Store, text: str) -> None:
        told = dict.fromkeys(("title", "project", "directory", "policy", "model", "agent"), text)
        made = drive(store.sessions.create(session(**told)))
        start(store, project="other")
        again = self.reopen(store)
        assert drive(again.sessions.session(made.id)) == made
        assert made.title == made.directory == text
        assert drive(again.sessions.list(Page(project=text))) == (made,)

    @hostile
    def test_changes_hold_any_text(self, store: Store, text: str) -> None:
        id = start(store, title="before", project="before")
        drive(store.sessions.set(id, Changes(title=text, project=text, directory=text)))
        found = drive(store.sessions.session(id))
        assert (found.title, found.project, found.directory) == (text, text, text)
        assert drive(store.sessions.list(Page(project=text))) == (found,)
        assert drive(store.sessions.list(Page(project="before"))) == ()

    @hostile
    def test_calls_and_jobs_hold_any_text(self, store: Store, text: str) -> None:
        id = start(store)
        spent = call(id, cause=text, provider=text, model=text, request=text, price_version=text)
        drive(store.calls.record(spent))
        assert drive(store.calls.calls(id)) == (spent,)
        work = job(id, key=text, payload=text.encode("utf-8", "surrogatepass"))
        drive(store.jobs.offer(work))
        held = drive(store.jobs.lease("summary", owner="me", now=1, until=2))
        assert isinstance(held, Job)
        assert drive(store.jobs.finish(held, outcome=text, now=3))
        (done,) = drive(store.jobs.jobs(id))
        assert (done.key, done.payload, done.outcome) == (work.key, work.payload, text)

    def test_two_surrogates_are_not_the_character_they_would_encode(self, store: Store) -> None:
        id = start(store)
        append(store, id, "\ud83d\ude00", "😀", key="k")
        pair, one = (e.body.text for e in read_all(store, id))  # type: ignore[union-attr]
        assert (len(pair), len(one)) == (2, 1)
        with pytest.raises(InvalidRequest):
            append(store, id, "😀", "😀", key="k")

    def test_a_line_of_ten_million_characters(self, store: Store) -> None:
        id = start(store)
        line = "0123456789" * 1_000_000
        append(store, id, line + "a", line + "b\ud800")
        found = [e.body for e in read_all(self.reopen(store), id)]
        assert found == [user(line + "a"), user(line + "b\ud800")]

    @pytest.mark.parametrize("id", ["", "a\0b", "\ud800", "é", "a\nb"], ids=ascii)
    def test_an_id_is_printable_ascii(self, store: Store, id: str) -> None:
        with pytest.raises(InvalidRequest):
            drive(store.sessions.create(session().__class__(id=id, created=0)))
