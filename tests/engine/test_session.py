"""An open session: durable appends, what is seen, forks, conflicts."""

from pathlib import Path
from typing import Any, cast

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.errors import Conflict, InvalidRequest, NotFound, SessionForked, Unavailable
from holdfast.model.log import (
    Checkpoint,
    Clear,
    Entry,
    PartRef,
    Pin,
    Redo,
    Repair,
    Rewind,
    Summary,
    Undo,
    Unpin,
)  # fmt: skip
from holdfast.model.message import Message, ToolResult, assistant, user
from holdfast.model.reply import Call
from holdfast.model.span import Span


@pytest.fixture(params=["memory:", "sqlite"])
def hf(request: pytest.FixtureRequest, tmp_path: Path):
    url = request.param if request.param == "memory:" else f"sqlite:///{tmp_path}/log.db"
    with holdfast.open(url) as opened:
        yield opened


def texts(entries: object) -> list[str]:
    return [
        entry.body.text if isinstance(entry.body, (Message, Summary)) else type(entry.body).__name__
        for entry in entries  # type: ignore[union-attr]
    ]


def talk(hf: Holdfast, many: int = 4) -> Session:
    s = hf.session()
    for i in range(1, many + 1):
        s.user(f"m{i}")
    return s


@pytest.mark.seed("000", 4)
def test_a_resumed_session_goes_on_where_it_was(hf: Holdfast) -> None:
    s = talk(hf)
    again = hf.session(s.id)
    again.user("m5")
    assert texts(again.entries()) == ["m1", "m2", "m3", "m4", "m5"]


@pytest.mark.parametrize("told", ["model", "title", "policy", "directory"])
def test_a_resumed_session_is_not_quietly_another(hf: Holdfast, told: str) -> None:
    s = talk(hf)
    with pytest.raises(InvalidRequest, match="rename"):
        hf.session(s.id, **cast(Any, {told: "b"}))


def test_an_unambiguous_beginning_of_an_id_is_enough_where_it_is_asked_for(hf: Holdfast) -> None:
    s = hf.session()
    assert hf.resolve(s.id[:24], prefix=True).id == s.id
    assert hf.resolve(s.id[:24].lower(), prefix=True).id == s.id
    with pytest.raises(NotFound):
        hf.resolve(s.id[:3], prefix=True)


def test_an_id_is_exact_where_no_beginning_is_asked_for(hf: Holdfast) -> None:
    s = hf.session()
    s.user("a secret")
    wrong = s.id[:-1] + ("0" if s.id[-1] != "0" else "1")
    for id in (s.id[:24], s.id.lower(), wrong, s.id[:6], "nope"):
        for attempt in (
            lambda id=id: hf.session(id),
            lambda id=id: hf.resolve(id),
            lambda id=id: hf.erase(id),
            lambda id=id: hf.export(id),
            lambda id=id: hf.search("secret", session=id),
            lambda id=id: hf.costs("day", session=id),
        ):
            with pytest.raises(NotFound) as told:
                attempt()
            assert s.id not in str(told.value)
            assert told.value.nearest == ()


@pytest.mark.seed("000", 90)
def test_a_summary_takes_the_place_of_what_it_covers(hf: Holdfast) -> None:
    s = talk(hf, 5)
    s.append(Summary(covers=(Span(1, 3),), kept=(2,), text="sum"))
    s.user("m7")
    assert texts(s.visible()) == ["m2", "sum", "m4", "m5", "m7"]
    s.append(Undo(marker=6))
    assert texts(s.visible()) == ["m1", "m2", "m3", "m4", "m5", "m7"]
    s.append(Redo(marker=6))
    assert texts(s.visible()) == ["m2", "sum", "m4", "m5", "m7"]
    assert len(texts(s.entries())) == 9


def test_a_view_can_be_had_as_it_was(hf: Holdfast) -> None:
    s = talk(hf, 3)
    s.append(Summary(covers=(Span(1, 2),), text="sum"))
    s.user("m5")
    assert texts(s.visible()) == ["sum", "m3", "m5"]
    assert texts(s.visible(at="3")) == ["m1", "m2", "m3"]
    assert texts(s.visible(at="4")) == ["sum", "m3"]


def test_a_pinned_entry_is_seen_even_where_it_is_covered(hf: Holdfast) -> None:
    s = talk(hf, 4)
    s.append(Pin(seq=2))
    s.append(Summary(covers=(Span(1, 4),), text="sum"))
    assert texts(s.visible()) == ["m2", "sum"]


def test_a_rewind_leaves_a_branch_and_can_go_back_to_it(hf: Holdfast) -> None:
    s = talk(hf, 3)
    s.rewind("1")
    s.user("other")
    assert texts(s.visible()) == ["m1", "other"]
    s.rewind("3")
    assert texts(s.visible()) == ["m1", "m2", "m3"]


@pytest.mark.seed("000", 168)
def test_a_fork_shares_the_past_and_nothing_else(hf: Holdfast) -> None:
    s = talk(hf, 3)
    other = s.fork(at="2")
    other.user("fork")
    s.user("m4")
    assert texts(other.visible()) == ["m1", "m2", "fork"]
    assert texts(s.visible()) == ["m1", "m2", "m3", "m4"]
    assert other.info.parent == s.id


@pytest.mark.seed("000", 35)
def test_the_second_writer_is_told_and_goes_on_in_a_fork(hf: Holdfast) -> None:
    first = talk(hf, 2)
    second = hf.session(first.id, on_conflict="fork")
    first.user("from the first")
    with pytest.warns(SessionForked, match=first.id):
        second.user("from the second")
    second.user("goes on")
    assert texts(first.visible()) == ["m1", "m2", "from the first"]
    assert texts(second.visible()) == ["m1", "m2", "from the second", "goes on"]
    assert second.info.parent == first.id


def test_a_writer_who_has_looked_again_may_go_on(hf: Holdfast) -> None:
    first = talk(hf, 1)
    second = hf.session(first.id)
    first.user("m2")
    assert texts(second.visible()) == ["m1", "m2"]
    second.user("m3")
    assert second.id == first.id


@pytest.mark.seed("000", 36)
def test_a_conflict_can_be_raised_instead(hf: Holdfast) -> None:
    first = talk(hf, 1)
    second = hf.session(first.id, on_conflict="raise")
    first.user("m2")
    with pytest.raises(Conflict) as told:
        second.user("m2 too")
    assert (told.value.expected, told.value.found) == (1, 2)
    with pytest.raises(InvalidRequest, match="on_conflict"):
        hf.session(on_conflict="ignore")  # type: ignore[arg-type]


def test_a_marker_made_against_an_old_epoch_is_refused(hf: Holdfast) -> None:
    s = talk(hf, 4)
    epoch = s.view().folded.epoch
    s.append(Clear(parts=(PartRef(1, 0),)), epoch=epoch)
    with pytest.raises(Conflict):
        s.append(Summary(covers=(Span(1, 2),), text="late"), epoch=epoch)


def test_a_marker_does_not_push_the_writer_aside(hf: Holdfast) -> None:
    writer = talk(hf, 3)
    background = hf.session(writer.id)
    background.append(Summary(covers=(Span(1, 2),), text="sum"), epoch=0)
    writer.user("m5")
    assert writer.id == background.id
    assert texts(writer.visible()) == ["sum", "m3", "m5"]


def test_a_marker_that_names_what_is_not_there_is_refused(hf: Holdfast) -> None:
    s = talk(hf, 2)
    for marker in (
        Summary(covers=(Span(1, 9),), text="too far"),
        Summary(covers=(), text="nothing"),
        Summary(covers=(Span(2, 1),), text="backwards"),
        Summary(covers=(Span(-3, 1),), text="before the beginning"),
        Summary(covers=(Span(1, 2),), text=" "),
        Summary(covers=(Span(1, 2),), text="kept", kept=(77,)),
        Summary(covers=(Span(1, 1),), text="kept outside", kept=(2,)),
        Summary(covers=(Span(1, 2),), text="merges", merges=(50,)),
        Summary(covers=(Span(1, 2),), text="merges what was said", merges=(1,)),
        Clear(parts=(PartRef(99, 0),)),
        Clear(parts=(PartRef(1, -1),)),
        Pin(seq=99),
        Pin(),
        Unpin(pin="nothing"),
        Checkpoint(prompt=3),
        Rewind(to=3),
        Rewind(to=-1),
        Undo(marker=1),
        Undo(marker=-1),
        Redo(marker=7),
    ):
        with pytest.raises(InvalidRequest, match=type(marker).__name__):
            s.append(marker)
    with pytest.raises(NotFound, match="holdfast show"):
        s.rewind("99")
    assert len(list(s.entries())) == 2


def test_what_the_door_takes_the_doctor_finds_nothing_wrong_with(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = talk(hf, 3)
        pin = s.append(Pin(seq=2))
        s.append(Summary(covers=(Span(1, 3),), text="so far", kept=(1,)))
        s.append(Summary(covers=(Span(1, 5),), text="and on", merges=(5,)))
        s.append_all([user("hm"), Undo(marker=6), Unpin(pin=pin.id), Pin(seq=7)])
        s.append_all([Clear(parts=(PartRef(7, 0),)), Undo(marker=11), Redo(marker=11)])
        s.append(Repair(rule="A12"))
        s.append(Rewind(to=0))
        s.append(Checkpoint())
        assert hf.examine(s.id) == ()


def test_a_key_makes_an_append_happen_once(hf: Holdfast) -> None:
    s = hf.session()
    one = s.user("hello", key="once")
    assert s.user("hello", key="once").id == one.id
    with pytest.raises(InvalidRequest, match="something else"):
        s.user("other", key="once")
    assert texts(s.entries()) == ["hello"]


def test_after_an_error_that_was_none_the_writer_does_not_fork_from_itself(
    hf: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = talk(hf, 1)
    log = hf.engine.store.log
    append, at_once = log.append, log.append_inline

    async def appended_but_failed(*values: object, **named: object) -> tuple[Entry, ...]:
        await append(*values, **named)  # type: ignore[arg-type]
        raise Unavailable("the disk stuttered")

    def at_once_but_failed(*values: object) -> None:
        if at_once(*values):  # type: ignore[arg-type]
            raise Unavailable("the disk stuttered")

    paid = Call(id="call", session=s.id, started=0, cost=7)
    with monkeypatch.context() as failing:
        failing.setattr(log, "append", appended_but_failed)
        failing.setattr(log, "append_inline", at_once_but_failed)
        with pytest.raises(Unavailable):
            s.user("m2")
        with pytest.raises(Unavailable):
            s.append(assistant("answer"), call=paid)
    assert s.cost == 0
    s.user("m3")
    assert s.cost == hf.session(s.id).cost == 7e-9
    assert texts(s.entries()) == ["m1", "m2", "answer", "m3"]


def test_a_tool_call_has_a_state(hf: Holdfast) -> None:
    s = hf.session()
    call = holdfast.ToolCall
    s.append(
        holdfast.assistant(call("a", "sh", "{}"), call("b", "sh", "{}"), call("c", "sh", "{}"))
    )
    assert {state.state for state in s.tool_states().values()} == {"running"}
    s.append(Message("tool", (ToolResult("a", "ok"), ToolResult("b", "bad", error=True))))
    s.user("stop that")
    s.append(holdfast.assistant(call("d", "sh", '{"cu')), completed=False)
    states = s.tool_states()
    assert [states[id].state for id in "abcd"] == ["completed", "error", "error", "pending"]
    assert states["c"].interrupted
    assert states["a"].started is not None
    assert states["a"].ended is not None


@pytest.mark.seed("000", 56)
def test_titles_and_archives(hf: Holdfast) -> None:
    s = talk(hf, 1)
    s.rename("a \x00 title \ud800")
    assert hf.sessions()[0].title == "a \x00 title \ud800"
    s.archive()
    assert hf.sessions() == ()
    assert [session.id for session in hf.sessions(archived=True)] == [s.id]
    s.archive(False)
    assert len(hf.sessions()) == 1


def test_sessions_are_listed_page_by_page(hf: Holdfast) -> None:
    made = [hf.session(title=str(i)).id for i in range(7)]
    first = hf.sessions(limit=3)
    second = hf.sessions(limit=3, after=first[-1])
    third = hf.sessions(limit=3, after=second[-1])
    assert [s.id for s in (*first, *second, *third)] == made[::-1]
    assert [s.id for s in hf.every_session()] == made[::-1]


def test_a_session_belongs_to_the_repository_it_is_in(hf: Holdfast, tmp_path: Path) -> None:
    inside = tmp_path / "repo" / "src"
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    inside.mkdir()
    s = hf.session(directory=inside)
    assert s.info.directory == str(inside)
    assert s.info.project == str(tmp_path / "repo")
    assert [found.id for found in hf.sessions(project=str(tmp_path / "repo"))] == [s.id]
    assert hf.sessions(project="elsewhere") == ()


def test_search_finds_what_was_said(hf: Holdfast) -> None:
    s = hf.session()
    s.user("the login handler is broken")
    s.append(Summary(covers=(Span(1, 1),), text="login work"))
    hits = hf.search("login handler")
    assert [(hit.session, hit.seq, hit.kind) for hit in hits] == [(s.id, 1, "text")]
    assert {hit.seq for hit in hf.search("login")} == {1, 2}
    with pytest.raises(InvalidRequest):
        hf.search("  ")


def test_a_fork_that_shares_nothing_is_not_paid_by_whom_it_left(hf: Holdfast) -> None:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("hi")
    told = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
            "content": [{"type": "text", "text": "yo"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 100_000, "output_tokens": 0}}  # fmt: skip
    fork = s.fork(at=0)
    fork.user("on my own")
    fork.reply({**told, "id": "msg_fork"})
    part = s.subtask("a part")
    part.user("of the work")
    part.reply({**told, "id": "msg_part"})
    assert (fork.cost, part.cost) == (0.3, 0.3)
    assert hf.session(fork.id).cost == 0.3
    assert hf.session(s.id).cost == 0.3  # the subtask's alone
