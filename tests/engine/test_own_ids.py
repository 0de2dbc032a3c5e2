"""Sessions under ids of the caller's own: opened where they are there, made where they are not."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.errors import InvalidRequest, NotFound


@pytest.fixture(params=["memory:", "sqlite"])
def hf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Holdfast]:
    url = "memory:" if request.param == "memory:" else str(tmp_path / "log.db")
    with holdfast.open(url) as opened:
        yield opened


def test_an_id_of_the_callers_own_is_created_once_and_then_opened(hf: Holdfast) -> None:
    made = hf.session("tenant-7/alice@example.com", create=True, model="m", title="Hers")
    made.user("my PIN is 4711")
    again = hf.session("tenant-7/alice@example.com", create=True, model="other", title="not used")
    assert again.id == "tenant-7/alice@example.com"
    assert [entry.body.text for entry in again.entries()] == ["my PIN is 4711"]  # type: ignore[union-attr]
    assert (again.info.model, again.info.title) == ("m", "Hers")  # as it was made
    assert hf.session("tenant-7/alice@example.com").id == made.id
    assert len(hf.sessions()) == 1


def test_a_beginning_of_an_id_is_another_id_where_it_may_be_created(hf: Holdfast) -> None:
    hf.session("customer-1001", create=True).user("Alice's")
    other = hf.session("customer-100", create=True)
    assert other.id == "customer-100"
    assert list(other.entries()) == []


def test_without_create_an_unknown_id_is_still_an_error(hf: Holdfast) -> None:
    with pytest.raises(NotFound):
        hf.session("customer-1001")


@pytest.mark.parametrize(
    "id", ["a\nb", "a\x00b", "\x1b[31m", "x" * 257, "zo\u00eb", "", "  ", 42, b"a", None, ["a"]]
)
def test_an_id_that_cannot_be_one_is_refused_before_anything_is_written(
    hf: Holdfast, id: object
) -> None:
    with pytest.raises(InvalidRequest, match=r"id"):
        hf.session(id, create=True)  # type: ignore[arg-type]
    assert hf.sessions() == ()


def test_of_many_that_create_the_same_id_at_once_all_get_the_one_session(tmp_path: Path) -> None:
    hf = holdfast.open(tmp_path / "log.db")
    failed: list[BaseException] = []
    gate = threading.Barrier(8)

    def one(n: int) -> None:
        try:
            gate.wait(10)
            hf.session("shared", create=True).user(f"m{n}")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []
    said = {entry.body.text for entry in hf.session("shared").entries()}  # type: ignore[union-attr]
    assert said == {f"m{n}" for n in range(8)}
    assert len(hf.sessions()) == 1
    hf.close()


def test_the_same_at_the_async_door(tmp_path: Path) -> None:
    async def all_of_it() -> int:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            opened = await asyncio.gather(*(hf.session("own", create=True) for _ in range(5)))
            assert {one.id for one in opened} == {"own"}
            with pytest.raises(InvalidRequest):
                await hf.session("a\tb", create=True)
            return len(await hf.sessions())

    assert asyncio.run(all_of_it()) == 1
