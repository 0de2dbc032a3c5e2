"""More than any transcript has: parts, records, numbers, sessions; and names that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.engine.importing import source
from holdfast.errors import NotFound
from holdfast.model.message import Record, Text
from tests.fuzz.judging import SECONDS, watch
from tests.importers.gemini_writing import Chat
from tests.importers.looking import bring, log, only, parts, words
from tests.importers.test_aider import BANNER, START, asked
from tests.importers.writing import SESSION, Transcript, story, text

HUGE = 2**53 - 1


def test_more_records_than_a_message_holds_are_kept(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("One.")
    for number in range(5_200):
        told.add("progress", data={"at": number})
    told.reply("msg_1", text("Two."))
    path = told.write(tmp_path / "p")
    (report,) = bring(hf, path)
    assert (report.troubles, words(only(hf))) == (0, ["One.", "Two."])
    kept = [
        part for part in parts(only(hf)) if isinstance(part, Record) and part.type == "progress"
    ]
    assert len(kept) == 5_200
    before = log(only(hf))
    list(hf.import_sources(hf.transcripts(path), again=True))
    assert log(only(hf)) == before


def test_a_message_of_very_many_parts_is_several(hf: Holdfast, tmp_path: Path) -> None:
    chat = Chat()
    chat.add("u1", "user", [{"text": f"word{number}"} for number in range(5_000)])
    chat.reply("r1", "Many.")
    path = chat.document(tmp_path / "chats")
    (report,) = bring(hf, path)
    assert report.troubles == 0
    said = [part.text for part in parts(only(hf)) if isinstance(part, Text)]
    assert said == [*(f"word{number}" for number in range(5_000)), "Many."]
    before = log(only(hf))
    list(hf.import_sources(hf.transcripts(path), again=True))
    assert log(only(hf)) == before


def claude(folder: Path) -> None:
    told = Transcript("5d1a2b3c-0000-4000-8000-000000000009")
    told.user("Count.")
    usage = {"input_tokens": HUGE, "output_tokens": HUGE}
    told.reply("msg_1", text("So."), usage=usage, model="claude-opus-4-1-20250805")
    told.write(folder)


def aider(folder: Path) -> None:
    shown = "> Tokens: 999999999999999M sent, 9M received. Cost: $99999999999999999999 message,  \n"
    told = START + BANNER + asked("Count.") + f"\nSo.\n\n{shown}"
    (folder / ".aider.chat.history.md").write_text(told)


def copied(folder: Path) -> None:
    told = Transcript("aaaaaaaa-0000-8000-8000-000000000009")
    told.user("Count.")
    told.bare(type="holdfast-export", session="\ud800x", title="t", head=1, sha256="0")
    told.write(folder)


@pytest.mark.parametrize("hostile", [claude, aider, copied])
def test_what_no_number_and_no_name_is_hinders_nothing(
    hostile: Any, hf: Holdfast, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    hostile(tmp_path / "p")
    story().write(tmp_path / "p")
    reports = bring(hf, tmp_path / "p")
    assert all(report.sessions for report in reports)
    assert len(reports) == 2
    assert hf.costs("model")
    assert hf.stats("agent")


def test_whatever_breaks_with_a_source_breaks_only_that(
    hf: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OverflowError("too much")

    Transcript("5d1a2b3c-0000-4000-8000-000000000009").write(tmp_path / "p")
    other = Transcript("5d1a2b3c-0000-4000-8000-000000000008")
    other.user("One.")
    other.write(tmp_path / "p")
    monkeypatch.setattr(source, "bring", broken)
    (report,) = [one for one in bring(hf, tmp_path / "p") if one.troubles]
    assert "could not be imported (OverflowError: too much): report it" in report.problems[0].what


@pytest.mark.parametrize("id", ["\ud800abc", "x" * 300_000, "", "a\nb"])
def test_what_is_no_id_of_a_session_is_refused(id: str, hf: Holdfast, tmp_path: Path) -> None:
    with holdfast.open("memory:") as other:
        bring(other, story().write(tmp_path / "p"))
        (tmp_path / "a.ndjson").write_bytes(other.export(only(other).id, "portable").data)
        told = json.loads((tmp_path / "a.ndjson").read_bytes())
    told["session"]["id"] = id
    (tmp_path / "a.ndjson").write_text(f"{json.dumps(told)}\n")
    (report,) = bring(hf, tmp_path / "a.ndjson")
    assert report.troubles
    assert not list(hf.every_session())


def test_sums_of_far_too_much_are_told(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Count.")
    for number in range(1_200):
        usage = {"input_tokens": HUGE, "output_tokens": 1}
        told.reply(f"msg_{number}", text("So."), usage=usage, model="unknown-x")
    bring(hf, told.write(tmp_path / "p"))
    (spent,) = hf.costs("model")
    assert spent.usage.input > HUGE
    assert spent.usage.output == 1_200
    assert hf.stats("agent")


def test_what_nothing_is_grouped_by_is_refused_with_the_nearest(hf: Holdfast) -> None:
    group: Any = "agnet"
    for told in (hf.stats, hf.costs):
        with pytest.raises(NotFound, match="did you mean agent"):
            told(group)


def test_many_sessions_of_one_file_are_written_a_few_dozen_at_a_time(
    hf: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [START.replace("03:04:05", f"03:{n // 60:02d}:{n % 60:02d}") for n in range(130)]
    told = "".join(f"{run}{BANNER}{asked('Well?')}\nYes.\n\n" for run in runs)
    (tmp_path / ".aider.chat.history.md").write_text(told)
    written: list[int] = []
    store = hf.engine.store.imports
    whole = store.commit

    async def counted(*brought: Any, **more: Any) -> Any:
        written.append(len(brought))
        return await whole(*brought, **more)

    monkeypatch.setattr(store, "commit", counted)
    bring(hf, tmp_path / ".aider.chat.history.md")
    assert written[:2] == [64, 64]
    assert len(written) == 3
    assert len(list(hf.every_session())) == 130


def test_two_files_that_were_equal_and_part_are_two_sessions(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("One.")
    told.reply("msg_1", text("First."))
    path = told.write(tmp_path / "p")
    copy = told.write(tmp_path / "p", name=f"{SESSION}.sync-conflict.jsonl")
    bring(hf, tmp_path / "p")
    assert words(only(hf)) == ["One.", "First."]
    own, other = Transcript(), Transcript()
    own.records, other.records = list(told.records), list(told.records)
    own.user("Mine.", uuid="u-mine", parent=told.records[-1]["uuid"])
    other.user("Theirs.", uuid="u-theirs", parent=told.records[-1]["uuid"])
    path.write_bytes(b"".join(own.lines))
    copy.write_bytes(b"".join(other.lines))
    bring(hf, tmp_path / "p")
    for _ in range(2):
        list(hf.import_sources(hf.transcripts(tmp_path / "p"), again=True))
        found = sorted(words(hf.session(one.id)) for one in hf.every_session())
        assert found == [["One.", "First.", "Mine."], ["One.", "First.", "Theirs."]]
        assert sum(one.head - one.fork for one in hf.every_session()) == 4


def test_an_open_fence_of_empty_lines_is_read_in_one_pass(hf: Holdfast, tmp_path: Path) -> None:
    told = START + BANNER + asked("Show me.") + "\n```\n" + "\n" * 60_000 + "end\n"
    (tmp_path / ".aider.chat.history.md").write_text(told)
    with watch(SECONDS):
        bring(hf, tmp_path / ".aider.chat.history.md")
    assert len(words(only(hf))[1]) > 60_000


def test_very_many_kinds_of_records_are_counted_one_by_one(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("One.")
    for number in range(60_000):
        told.bare(type=f"kind{number}")
    with watch(SECONDS):
        (report,) = bring(hf, told.write(tmp_path / "p"))
    assert len(report.kept) == 60_000


def test_a_question_with_a_quote_on_the_command_line_is_no_sign_of_lost_blanks(
    hf: Holdfast, tmp_path: Path
) -> None:
    command = "> aider --message Fix this:\n> quoted line\n#### so\nmore  \n"
    reply = "Reply.\n\n#### A heading of the reply\n\nEnd."
    told = f"{START}{command}{BANNER}{asked('Fix it')}\n{reply}\n"
    (tmp_path / ".aider.chat.history.md").write_text(told)
    bring(hf, tmp_path / ".aider.chat.history.md")
    assert words(only(hf)) == ["Fix it", reply]


def test_an_id_of_somebody_elses_runs_nothing(hf: Holdfast, tmp_path: Path) -> None:
    with holdfast.open("memory:") as other:
        bring(other, story().write(tmp_path / "p"))
        told = json.loads(other.export(only(other).id, "portable").data)
    told["session"]["id"] = "x$(touch${IFS}pwned)"
    (tmp_path / "a.ndjson").write_text(f"{json.dumps(told)}\n")
    bring(hf, tmp_path / "a.ndjson")
    handed = hf.handoff(only(hf).id, "markdown").data.decode()
    assert "`holdfast show 'x$(touch${IFS}pwned)' --all`" in handed
