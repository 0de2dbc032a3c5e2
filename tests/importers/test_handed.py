"""What was handed over is known when it comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.importing import workers
from holdfast.model.log import Summary
from holdfast.model.message import Message, SummaryText, assistant
from holdfast.model.span import Span
from tests.exporters.carried import exported, imported
from tests.importers.looking import bring, only, said, words
from tests.importers.writing import Transcript, text

MORE = {
    "claude-code": {"type": "user", "message": {"role": "user", "content": "And the wall?"}},
    "codex": {
        "timestamp": "2026-11-15T12:00:00Z", "type": "response_item",
        "payload": {"type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": "And the wall?"}]},
    },
}  # fmt: skip


def handed(hf: Holdfast, to: str, home: Path) -> tuple[Session, Path]:
    session = hf.session(model="gpt-5.1", title="The roof")
    session.user("Mend the roof.")
    session.append(assistant("It is mended."))
    hf.handoff(session.id, to, home=home)
    (file,) = home.rglob("*.jsonl")
    return session, file


@pytest.mark.parametrize("to", MORE)
def test_a_copy_that_did_not_go_on_is_not_imported(to: str, hf: Holdfast, tmp_path: Path) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    (report,) = bring(hf, file)
    assert (report.copy_of, report.entries, report.troubles) == (session.id, 0, 0)
    assert only(hf).id == session.id


def more(to: str, said: str) -> str:
    return json.dumps(MORE[to]).replace("And the wall?", said) + "\n"


def grow(file: Path, to: str, *said: str) -> None:
    with file.open("a") as grown:
        grown.write("".join(more(to, one) for one in said))


def fork_of(hf: Holdfast, session: Session) -> Session:
    (found,) = [one for one in hf.every_session() if one.parent == session.id]
    return hf.session(found.id)


@pytest.mark.parametrize("to", MORE)
def test_one_that_went_on_is_a_fork_that_shares_what_was_handed_over(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    session.user("I go on here.")
    grow(file, to, "And the wall?")
    (report,) = bring(hf, file)
    assert (report.copy_of, report.messages, report.troubles) == ("", 1, 0)
    fork = fork_of(hf, session)
    assert (fork.info.title, fork.info.fork, fork.info.agent) == ("The roof", 2, to)
    assert words(fork) == ["Mend the roof.", "It is mended.", "And the wall?"]
    file.touch()
    assert bring(hf, file)[0].entries == 0
    grow(file, to, "And the door?")
    assert bring(hf, file)[0].messages == 1
    assert words(fork)[-2:] == ["And the wall?", "And the door?"]
    assert len(list(hf.every_session())) == 2


@pytest.mark.parametrize("to", MORE)
def test_a_copy_of_what_was_imported_is_known_though_somebody_went_on_in_it(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    told.reply("msg_1", text("It is mended."))
    bring(hf, told.write(tmp_path / "p"))
    session = only(hf)
    hf.handoff(session.id, to, home=tmp_path / "home")
    (file,) = (tmp_path / "home").rglob("*.jsonl")
    grow(file, to, "And the wall?")
    bring(hf, file)
    fork = fork_of(hf, session)
    fork.user("I go on here.")
    grow(file, to, "And the door?")
    assert bring(hf, file)[0].messages == 1
    assert words(fork)[-2:] == ["And the wall?", "I go on here."]
    before = ["Mend the roof.", "It is mended.", "And the wall?"]
    assert words(fork_of(hf, fork)) == [*before, "And the door?"]


@pytest.mark.parametrize("to", MORE)
def test_what_was_said_otherwise_since_goes_back_to_what_was_handed_over(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    before = file.read_bytes()
    for asked in ("And the wall?", "And the door?"):
        file.write_bytes(before)
        grow(file, to, asked)
        bring(hf, file)
    fork = fork_of(hf, session)
    assert words(fork) == ["Mend the roof.", "It is mended.", "And the door?"]
    assert "And the wall?" in [said(entry) for entry in fork.entries()]


def test_going_back_into_what_was_handed_over_leaves_what_was_said_since(
    hf: Holdfast, tmp_path: Path
) -> None:
    session, file = handed(hf, "claude-code", tmp_path / "home")
    first = json.loads(file.read_bytes().splitlines()[0])
    more = [
        {**first, "uuid": f"u{n}", "parentUuid": above, "timestamp": f"2027-01-01T00:00:0{n}Z",
         "message": {"role": "user", "content": words}}
        for n, (above, words) in enumerate([("", "And the wall?"), (first["uuid"], "The door?")])
    ]  # fmt: skip
    with file.open("a") as grown:
        grown.write("".join(json.dumps(one) + "\n" for one in more))
    bring(hf, file)
    fork = fork_of(hf, session)
    assert words(fork) == ["Mend the roof.", "It is mended.", "The door?"]


@pytest.mark.parametrize("to", MORE)
def test_where_only_records_were_added_it_is_still_a_copy(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    with file.open("a") as grown:
        grown.write('{"type": "mode", "mode": "plan", "payload": {}}\n')
    (report,) = bring(hf, file)
    assert (report.copy_of, report.entries) == (session.id, 0)
    assert only(hf).id == session.id


@pytest.mark.parametrize("to", MORE)
def test_a_copy_that_somebody_changed_is_imported_whole(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    file.write_bytes(file.read_bytes().replace(b"It is mended.", b"It is burnt."))
    grow(file, to, "And the wall?")
    bring(hf, file)
    (found,) = [one for one in hf.every_session() if one.id != session.id]
    assert (found.title, found.parent, found.fork) == ("The roof", "", 0)
    assert "It is burnt." in words(hf.session(found.id))
    assert words(hf.session(found.id))[-1] == "And the wall?"


@pytest.mark.parametrize("to", MORE)
def test_one_that_was_imported_whole_goes_on_whole(to: str, hf: Holdfast, tmp_path: Path) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    grow(file, to, "And the wall?")
    with holdfast.open(tmp_path / "other.db") as other:
        bring(other, file)
        many = only(other).info.head
        imported(other, exported(session, raw=True), tmp_path)
        grow(file, to, "And the door?")
        assert bring(other, file)[0].messages == 1
        (found,) = [one for one in other.every_session() if one.id != session.id]
        assert (found.parent, found.fork, found.head) == ("", 0, many + 1)


@pytest.mark.parametrize("to", MORE)
def test_where_its_session_is_not_here_it_is_imported(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    _, file = handed(hf, to, tmp_path / "home")
    with holdfast.open("memory:") as other:
        (report,) = bring(other, file)
        assert (report.copy_of, report.troubles) == ("", 0)
        assert only(other).info.title == "The roof"


@pytest.mark.parametrize("to", MORE)
def test_that_its_session_is_not_here_is_known_where_workers_read_it(
    to: str, hf: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LEAST", 1)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    _, file = handed(hf, to, tmp_path / "home")
    with holdfast.open(tmp_path / "other.db") as other:
        (report,) = bring(other, file)
        assert (report.copy_of, report.troubles) == ("", 0)
        assert report.messages == only(other).info.head


def summed_up(hf: Holdfast, to: str, home: Path, title: str = "") -> tuple[Session, Path]:
    """A session that begins with a summary, handed over."""
    session = hf.session(model="gpt-5.1", title=title)
    session.user("Mend the roof.")
    session.append(assistant("It is mended."))
    session.append(Summary(covers=(Span(1, 2),), text="A roof was mended."))
    session.user("Paint it.")
    session.append(assistant("It is blue."))
    hf.handoff(session.id, to, home=home)
    (file,) = home.rglob("*.jsonl")
    return session, file


def test_a_summary_stands_directly_behind_its_boundary(hf: Holdfast, tmp_path: Path) -> None:
    _, file = summed_up(hf, "claude-code", tmp_path / "home")
    boundary, summary, preface = map(json.loads, file.read_bytes().splitlines()[:3])
    assert (boundary["subtype"], boundary["parentUuid"]) == ("compact_boundary", None)
    assert summary["isCompactSummary"] is True
    assert summary["parentUuid"] == boundary["uuid"]
    assert "A roof was mended." in summary["message"]["content"]
    assert preface["message"]["content"][0]["text"].startswith("This conversation was begun")
    assert file.read_text().count("A roof was mended.") == 1


@pytest.mark.parametrize("to", MORE)
def test_the_summary_of_a_copy_is_one_where_its_session_never_comes(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    _, file = summed_up(hf, to, tmp_path / "home")
    with holdfast.open("memory:") as other:
        (report,) = bring(other, file)
        found = only(other)
        (summary,) = [
            part
            for entry in found.entries()
            if isinstance(entry.body, Message)
            for part in entry.body.parts
            if isinstance(part, SummaryText)
        ]
        assert report.problems == ()
        assert "A roof was mended." in summary.text
        assert found.info.title == "Mend the roof."
        assert not any("A roof was mended." in one for one in words(found)[1:])


@pytest.mark.parametrize("grown", [False, True])
@pytest.mark.parametrize("to", MORE)
def test_a_copy_that_is_found_before_its_session_waits_for_it(
    to: str, grown: bool, hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    told.reply("msg_1", text("It is mended."))
    original = told.write(tmp_path / "z" / "deep" / "below")
    bring(hf, original)
    session = only(hf)
    hf.handoff(session.id, to, home=tmp_path / "home")
    (file,) = (tmp_path / "home").rglob("*.jsonl")
    copy = tmp_path / "a" / file.name
    copy.parent.mkdir()
    copy.write_bytes(file.read_bytes())
    if grown:
        grow(copy, to, "And the wall?")
    with holdfast.open(tmp_path / "other.db") as other:
        reports = list(other.import_from(tmp_path / "a", tmp_path / "z"))
        assert len(reports) == 2
        assert {one.path for one in reports} == {str(copy), str(original)}
        if grown:
            fork = fork_of(other, other.session(session.id))
            assert words(fork) == ["Mend the roof.", "It is mended.", "And the wall?"]
        else:
            assert only(other).id == session.id
            assert [one.copy_of for one in reports] == ["", session.id]


def test_a_copy_of_a_copy_waits_for_both(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    told.reply("msg_1", text("It is mended."))
    places = [tmp_path / name for name in ("c", "b", "a")]
    bring(hf, told.write(places[0]))
    for place, asked in zip(places[1:], ("And the wall?", "And the door?"), strict=True):
        (last,) = [one for one in hf.every_session() if not hf.forks(one)]
        hf.handoff(last.id, "codex", home=place)
        (file,) = place.rglob("*.jsonl")
        grow(file, "codex", asked)
        bring(hf, file)
    with holdfast.open(tmp_path / "other.db") as other:
        list(other.import_from(*places))
        assert {(one.id, one.parent, one.fork) for one in other.every_session()} == {
            (one.id, one.parent, one.fork) for one in hf.every_session()
        }
