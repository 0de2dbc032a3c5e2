"""What markers leave standing, told as worked examples."""

import pytest

from holdfast.core.log.fold import START, fold, resumable, resume, step
from holdfast.model.log import (
    Body,
    Clear,
    Context,
    Entry,
    Folded,
    PartRef,
    Pin,
    Pinned,
    Redo,
    Repair,
    Rewind,
    Summary,
    Switch,
    Undo,
    Unpin,
)
from holdfast.model.span import EVERYTHING, Span
from holdfast.testing.factories import entry


def log(*bodies: Body | str) -> list[Entry]:
    """Entries at 1, 2, 3 …; each Summary carries what stood before it, as the engine writes it."""
    made: list[Entry] = []
    for seq, body in enumerate(bodies, 1):
        if isinstance(body, Summary):
            body = summary(*body.covers, kept=body.kept, merges=body.merges, folded=fold(made))
        made.append(entry(seq, body))
    return made


def summary(
    *covers: Span,
    kept: tuple[int, ...] = (),
    merges: tuple[int, ...] = (),
    folded: Folded = START,
) -> Summary:
    return Summary(covers=covers, text="…", kept=kept, merges=merges, folded=folded)


def test_messages_alone_are_all_visible() -> None:
    assert fold(log("a", "b")) == START == Folded(visible=EVERYTHING)


@pytest.mark.seed("000", 5, 178)
def test_a_summary_stands_for_what_it_covers_and_the_tail_stays() -> None:
    state = fold(log("a", "b", "c", "d", summary(Span(1, 3), kept=(2,)), "e"))
    assert state.visible == (Span(4),)
    assert state.kept == (2,)
    assert state.summaries == (5,)
    assert state.epoch == 5


def test_a_summary_never_covers_what_is_appended_later() -> None:
    state = fold(log("a", summary(Span(1)), "b"))
    assert state.visible == (Span(2),)


def test_a_second_summary_merges_the_first_and_drops_what_it_kept() -> None:
    state = fold(
        log("a", "b", summary(Span(1, 2), kept=(1,)), "c", "d", summary(Span(1, 4), merges=(3,)))
    )
    assert (state.visible, state.kept, state.summaries) == ((Span(5),), (), (6,))


def test_what_a_summary_keeps_outlives_one_that_covers_elsewhere() -> None:
    state = fold(log("a", "b", summary(Span(1, 2), kept=(1,)), "c", "d", summary(Span(4, 4))))
    assert state.visible == (Span(3, 3), Span(5))
    assert (state.kept, state.summaries) == ((1,), (3, 6))


def test_cleared_parts_are_forgotten_once_their_entry_is_covered() -> None:
    cleared = Clear(parts=(PartRef(1, 0), PartRef(2, 0), PartRef(3, 1)))
    state = fold(log("a", "b", "c", cleared, summary(Span(1, 2), kept=(2,))))
    assert state.cleared == (PartRef(2, 0), PartRef(3, 1))


def test_a_pin_stays_until_it_is_unpinned() -> None:
    entries = log("a", Pin(seq=1), Pin(fact="tea"), Pin(path="x.py"), Unpin(pin="e3"))
    assert fold(entries[:4]).pins == (
        Pinned("e2", seq=1, at=2),
        Pinned("e3", fact="tea", at=3),
        Pinned("e4", path="x.py", at=4),
    )
    assert fold(entries).pins == (Pinned("e2", seq=1, at=2), Pinned("e4", path="x.py", at=4))


def test_settings_survive_a_rewind_and_conversation_does_not() -> None:
    state = fold(
        log(
            "a",
            Context(sections={}),
            "b",
            Pin(fact="tea"),
            Switch(model="m"),
            Repair(rule="A1"),
            Context(sections={}),
            Clear(parts=(PartRef(1, 0),)),
            summary(Span(1, 3)),
            Rewind(to=3),
        )
    )
    assert state.visible == (Span(1, 3), Span(11))
    assert (state.cleared, state.summaries, state.context) == ((), (), 2)
    assert state.pins == (Pinned("e4", fact="tea", at=4),)
    assert (state.switch, state.repairs, state.epoch) == (5, (6,), 10)


def test_a_rewind_to_the_beginning_leaves_what_comes_after_it() -> None:
    assert fold(log("a", "b", Rewind(to=0), "c")).visible == (Span(4),)


def test_a_rewind_behind_itself_hides_nothing_but_itself() -> None:
    assert fold(log("a", "b", Rewind(to=9), "c")).visible == (Span(1, 2), Span(4))


def test_a_rewind_into_an_abandoned_branch_takes_it_up_again() -> None:
    entries = log("a", "b", "c", Rewind(to=1), "d", "e", Rewind(to=3), "f")
    assert fold(entries[:6]).visible == (Span(1, 1), Span(5))
    assert fold(entries).visible == (Span(1, 3), Span(8))


def test_a_rewind_brings_back_a_summary_that_another_had_abandoned() -> None:
    entries = log("a", "b", summary(Span(1, 1)), "c", Rewind(to=1), "d", Rewind(to=4))
    assert fold(entries[:6]).summaries == ()
    assert fold(entries) == Folded(visible=(Span(2, 4), Span(8)), summaries=(3,), epoch=7)


def test_a_rewind_past_a_compaction_replays_the_log_before_it() -> None:
    entries = log("a", "b", "c", summary(Span(1, 2)), "d", Rewind(to=2), "e")
    assert fold(entries).visible == (Span(1, 2), Span(7))
    assert fold(entries).summaries == ()


@pytest.mark.seed("000", 160)
def test_an_undone_summary_covers_nothing_and_shields_what_it_covered() -> None:
    entries = log("a", "b", summary(Span(1, 2)), "c", Undo(marker=3), Redo(marker=3))
    assert fold(entries[:5]) == Folded(shielded=(Span(1, 2),), epoch=5)
    assert fold(entries) == Folded(visible=(Span(3),), summaries=(3,), epoch=6)


def test_a_shield_never_reaches_what_is_appended_later() -> None:
    state = fold(log("a", summary(Span(1)), Undo(marker=2), "b"))
    assert state.shielded == (Span(1, 1),)


def test_of_several_undos_and_redos_the_newest_decides() -> None:
    cleared = Clear(parts=(PartRef(1, 0),))
    entries = log("a", cleared, Undo(marker=2), Redo(marker=2), Undo(marker=2))
    assert [fold(entries[:n]).cleared for n in (2, 3, 4, 5)] == [
        (PartRef(1, 0),),
        (),
        (PartRef(1, 0),),
        (),
    ]


def test_an_undone_rewind_brings_the_branch_and_its_markers_back() -> None:
    entries = log("a", "b", summary(Span(1, 1)), Rewind(to=1), "c", Undo(marker=4), "d")
    assert fold(entries[:5]) == Folded(visible=(Span(1, 1), Span(5)), epoch=4)
    assert fold(entries) == Folded(visible=(Span(2),), summaries=(3,), epoch=6)


def test_an_undo_that_a_rewind_abandons_no_longer_counts() -> None:
    entries = log("a", summary(Span(1, 1)), "b", Undo(marker=2), Rewind(to=3))
    assert fold(entries).summaries == (2,)
    assert fold(entries).shielded == ()


def test_settings_cannot_be_undone() -> None:
    assert fold(log("a", Pin(fact="tea"), Undo(marker=2))).pins == (Pinned("e2", fact="tea", at=2),)


def test_step_says_so_where_folding_must_begin_again() -> None:
    assert step(START, entry(5, "a")) == START
    for body in (Undo(marker=1), Redo(marker=1), Rewind(to=0)):
        assert step(START, entry(5, body)) is None
    assert step(START, entry(5, Switch(model="m"))) == Folded(switch=5, epoch=5)


@pytest.mark.seed("000", 6, 79)
def test_folding_begins_at_the_newest_summary_in_force() -> None:
    entries = log("a", summary(Span(1, 1)), "b", summary(Span(2, 3), merges=(2,)), Pin(fact="x"))
    markers = [e for e in entries if not e.is_message]
    assert resumable(markers) == 1
    assert resume(markers[1:]) == fold(entries)


def test_older_markers_are_asked_for_when_an_undo_reaches_behind() -> None:
    entries = log("a", summary(Span(1, 1)), "b", summary(Span(2, 3)), Undo(marker=2))
    markers = [e for e in entries if not e.is_message]
    assert resume(markers[1:]) is None
    assert resume(markers) is None
    assert resume([]) is None


def test_after_a_rewind_the_markers_up_to_its_place_say_what_is_kept_and_cleared() -> None:
    """A marker names only what comes before it, so none in force names what a rewind took."""
    kept = summary(Span(1, 3), kept=(2, 3))
    before = log("a", "b", "c", kept, Clear(parts=(PartRef(3, 0),)), "d", "e")
    at = {to: fold([*before, entry(8, Rewind(to=to))]) for to in (2, 3, 4, 5, 6)}
    shown = {to: (state.visible[:-1], state.kept, state.cleared) for to, state in at.items()}
    assert shown == {
        2: ((Span(1, 2),), (), ()),
        3: ((Span(1, 3),), (), ()),
        4: ((Span(4, 4),), (2, 3), ()),
        5: ((Span(4, 5),), (2, 3), (PartRef(3, 0),)),
        6: ((Span(4, 6),), (2, 3), (PartRef(3, 0),)),
    }
