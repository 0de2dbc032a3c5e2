"""Sessions leave by both doors: exported to bytes or a file, or handed over."""

import asyncio
import json
import stat
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.exporting.export import FORMATS, Exported
from holdfast.errors import InvalidRequest
from holdfast.model.log import Summary, Trigger
from holdfast.model.span import Span

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def session(tmp_path: Path) -> str:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user(f"My token is {SECRET}")
        s.append(holdfast.assistant("Keep it to yourself."))
        return s.id


@pytest.mark.parametrize("format", FORMATS)
def test_both_doors_write_the_same(session: str, tmp_path: Path, format: str) -> None:
    async def awaited() -> Exported:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            return await hf.export(session, format, file=tmp_path / "async")

    with holdfast.open(tmp_path / "log.db") as hf:
        made = hf.export(session, format, file=tmp_path / "blocking")
        raw = hf.export(session, format, raw=True)
    assert made == asyncio.run(awaited())
    for name in ("async", "blocking"):
        assert (tmp_path / name).read_bytes() == made.data
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert made.fidelity.carried
    assert SECRET.encode() not in made.data
    assert SECRET.encode() in raw.data


def test_compactions_can_have_lines_of_their_own(session: str, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        hf.session(session).append(Summary(covers=(Span(1, 1),), text="Told."))
        lines = hf.export(session, boundaries=True).data.splitlines()
        alone = hf.export(session).data.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["session", "boundary"]
    assert alone == lines[:1]


@pytest.mark.parametrize(("trigger", "told"), [("manual", "manual"), ("idle", "auto")])
def test_claude_code_is_told_whether_somebody_asked_for_the_summary(
    session: str, tmp_path: Path, trigger: Trigger, told: str
) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        hf.session(session).append(Summary(covers=(Span(1, 1),), text="Told.", trigger=trigger))
        first = json.loads(hf.export(session, "claude-code").data.splitlines()[0])
    assert first["compactMetadata"]["trigger"] == told


def test_a_form_that_is_none_is_refused(session: str, tmp_path: Path) -> None:
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        pytest.raises(InvalidRequest, match="no export to 'pdf'; name one of portable, "),
    ):
        hf.export(session, "pdf", file=tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_nothing_is_laid_where_no_home_is_named(session: str, tmp_path: Path) -> None:
    home = tmp_path / "claude"
    with holdfast.open(tmp_path / "log.db") as hf:
        told = hf.handoff(session, "claude-code", directory=tmp_path)
        assert not home.exists()
        laid = hf.handoff(session, "claude-code", directory=tmp_path, home=home)
        chat = hf.handoff(session, "chat", home=home)
    assert told == laid
    assert laid.command == ("claude", "--resume", laid.id)
    assert laid.directory == str(tmp_path)
    assert [one.read_bytes() for one in home.rglob("*.jsonl")] == [laid.data]
    assert chat.command == ("holdfast", "chat", "--resume", session)

    async def awaited() -> bytes:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            return (await hf.handoff(session, "codex", home=tmp_path / "codex")).data

    data = asyncio.run(awaited())
    assert [one.read_bytes() for one in (tmp_path / "codex").rglob("*.jsonl")] == [data]
