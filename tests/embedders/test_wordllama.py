"""The embedder that is installed with the extra: near is what means the same, offline."""

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import holdfast
from holdfast.engine import plugins
from holdfast.errors import InvalidRequest
from tests.cli.running import run, values

pytestmark = pytest.mark.skipif(
    find_spec("wordllama") is None, reason="the extra `embeddings` is not installed"
)


def test_what_means_the_same_is_nearer() -> None:
    embedder = plugins.embedder()
    car, dog, asked, nothing = embedder.embed(
        ["The car would not start.", "My dog loves walks.", "trouble with a vehicle", ""]
    )
    assert {len(car), len(nothing)} == {256}
    near, far, none = embedder.alike(asked, [car, dog, nothing])
    assert near > 0.3 > far
    assert none == 0.0
    assert embedder.alike(car, [car])[0] == pytest.approx(1.0, abs=0.01)
    assert embedder.alike(car, []) == []


def test_any_text_has_a_vector() -> None:
    assert len(plugins.embedder().embed(["\ud800", "a\0b", "x" * 100_000])) == 3


def test_the_package_itself_is_never_imported() -> None:
    plugins.embedder()
    assert "wordllama" not in sys.modules


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins.embedder.cache_clear()
    monkeypatch.setattr("holdfast.embedders.wordllama.find_spec", lambda name: None)
    with (
        holdfast.open("memory:") as hf,
        pytest.raises(InvalidRequest, match=r"holdfast\[embeddings\]"),
    ):
        hf.search("anything", meaning=True)


def test_it_is_asked_for_on_the_command_line(own_store: Path) -> None:
    with holdfast.open() as hf:
        s = hf.session()
        s.user("The car would not start this morning.")
        s.user("Quarterly revenue fell by ten percent.")
    assert values("search", "trouble with a vehicle") == []
    (hit,) = values("search", "trouble with a vehicle", "--meaning", "--limit", "1")
    assert hit["seq"] == 1
    assert run("search", "morning vehicle", "--any").stdout.splitlines()[1].split()[2] == "1"


def test_both_doors_find_the_same() -> None:
    async def found() -> int:
        async with holdfast.open_async("memory:") as hf:
            s = await hf.session()
            await s.user("The car would not start this morning.")
            (hit,) = await hf.search("trouble with a vehicle", meaning=True)
            return hit.seq

    assert asyncio.run(found()) == 1
