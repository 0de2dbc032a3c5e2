"""Behind both doors a store can be examined and copied, and a session says what it is about."""

import asyncio
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.plugins import file_of, salvage
from holdfast.errors import InvalidRequest


def test_a_store_is_examined_and_copied_behind_both_doors(own_store: Path) -> None:
    with holdfast.open() as hf:
        session = hf.session()
        session.user("hello")
        assert hf.examinable() == (session.id,)
        assert hf.examine() == hf.examine(session.id) == hf.repair(()) == ()
        assert Path(hf.backup()).exists()

    async def again() -> tuple[object, ...]:
        async with holdfast.open_async() as hf:
            return await hf.examinable(), await hf.examine(), await hf.repair(()), await hf.backup()

    *told, backup = asyncio.run(again())
    assert told == [(session.id,), (), ()]
    assert Path(str(backup)).exists()


def test_a_session_knows_its_opening_its_forks_and_its_size() -> None:
    with holdfast.open() as hf:
        session = hf.session()
        assert (hf.opening(session.info), session.size()) == ("", 0)
        wrapped = holdfast.Text("<environment/>", scaffold="environment")
        session.append(holdfast.Message("user", (wrapped,)))
        session.append(holdfast.assistant("Yes?"))
        session.user("Fix it")
        fork = session.fork("2")
        fork.user("x" * 1000)
        assert hf.opening(session.info) == "Fix it"
        assert [one.id for one in hf.forks(session.info)] == [fork.id]
        assert 1000 < fork.size() < 1100
        assert session.size() < 200


@pytest.mark.parametrize(
    ("url", "file"),
    [("log.db", "log.db"), ("sqlite:///log.db", "log.db"), ("sqlite:////log.db", "/log.db")],
)
def test_a_url_names_its_file(url: str, file: str) -> None:
    assert file_of(url) == Path(file).absolute()


def test_memory_is_no_file_and_cannot_be_salvaged() -> None:
    assert file_of("memory:") is None
    with pytest.raises(InvalidRequest, match="cannot be salvaged"):
        salvage("memory:")
