"""Exact counts are tiktoken's own, for any text, in pieces or whole, once or again."""

import inspect
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken_ext.openai_public as theirs
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.tokens.estimate import estimate
from holdfast.counters import exact
from holdfast.counters.exact import (
    HASHES,
    PATTERNS,
    ExactCounter,
    count,
    count_stream,
    encoding,
    pieces,
)
from holdfast.engine.client import drive
from holdfast.errors import NotFound

FORCED = 4
LONGEST = 131_072
PIECE = 65_536
"""What is promised, in numbers: these tests stand at its edges."""

BOTH = pytest.mark.parametrize("vocabulary", sorted(PATTERNS))
SAMPLES: dict[str, str] = {
    "prose": "When the window grows too small, something has to leave; it isn't forgotten.\n\n",
    "code": "    def keep(self, pieces: list[Piece]) -> int:\n        return sum(p.n for p in x)",
    "json": '{"id": "ses_5feceb66", "tokens": {"input": 1200, "cached": true}, "tags": []}\n',
    "terminal": "-rw-r--r-- 1 alice staff  402118 Mar 12 09:41 engine.o\n===== 3 passed =====\n",
    "chinese": "完整保存的对话，任何需要的人都可以重新阅读。摘要既有用又危险；名称直接取自记录。\n",
    "base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAA",
}
GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "estimate.json").read_text("utf-8")
)
PIECES = (
    *("a", "Z", "don't", "WE'LL", " ", "  ", "\n", "\r\n", "\t", "1", "123456", "é", "ñ", "中文"),
    *("，", "。", "😀", "👨‍👩‍👧", "<|endoftext|>", "<|im_start|>", "//", "/", "_", "-", "==", "'"),
    "’s",
    *("\u0301", "\u200b", "\xa0", "\u2028", "½", "Ⅷ", "ß", "ǅ", "ا", "कि", "ไทย", "\x00", "\ud800"),
)  # fmt: skip


def theirs_of(vocabulary: str) -> str:
    """The pattern as tiktoken's own source has it, found without loading any vocabulary."""
    found: dict[str, str] = {}

    def no_loading(*_: object, **__: object) -> dict[bytes, int]:
        return {}

    made: Callable[[], dict[str, str]] = getattr(theirs, vocabulary)
    source = inspect.getsource(made)
    names = {**vars(theirs), "load_tiktoken_bpe": no_loading}
    exec(source, names, found)
    return found[vocabulary]()["pat_str"]  # type: ignore[operator]


@BOTH
def test_the_patterns_are_tiktokens_own(vocabulary: str) -> None:
    assert PATTERNS[vocabulary] == theirs_of(vocabulary)


@BOTH
def test_the_hashes_are_the_ones_tiktoken_pins(vocabulary: str) -> None:
    assert HASHES[vocabulary] in Path(theirs.__file__).read_text("utf-8")


def fuzzed(chance: random.Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randrange(40)))


def check_fuzzed(many: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(many):
        text = fuzzed(chance)
        for vocabulary in PATTERNS:
            whole = encoding(vocabulary).encode_ordinary(text)
            assert count(text, vocabulary) == len(whole)
            if "\ud800" not in text:
                assert encoding(vocabulary).decode_bytes(whole) == text.encode()


def test_made_up_texts_are_counted_as_tiktoken_does() -> None:
    check_fuzzed(2_000, seed=7)


@pytest.mark.long
def test_many_made_up_texts_are_counted_as_tiktoken_does() -> None:
    check_fuzzed(20_000, seed=8)


@BOTH
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_long_text_counts_as_much_in_pieces_as_whole(
    vocabulary: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SAMPLES[kind] * 30
    whole = len(encoding(vocabulary).encode_ordinary(text))
    monkeypatch.setattr(exact, "PIECE", 50)
    told = count_stream((text[at : at + 77] for at in range(0, len(text), 77)), vocabulary)
    assert (told.tokens, told.tier, told.error) == (whole, "exact", 0)


@BOTH
@given(data=st.data())
def test_no_cut_changes_a_count(vocabulary: str, data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(PIECES), max_size=60)))
    whole = len(encoding(vocabulary).encode_ordinary(text))
    for cut in exact.CUTS.finditer(text):
        before, after = text[: cut.start()], text[cut.start() :]
        encode = encoding(vocabulary).encode_ordinary
        assert len(encode(before)) + len(encode(after)) == whole


def test_pieces_join_to_the_text() -> None:
    text = ("word " * 30_000) + ("x" * 100_000) + ("line\n" * 30_000)
    parts = list(pieces([text]))
    assert "".join(piece for piece, _ in parts) == text
    assert all(legal for _, legal in parts)
    assert max(len(piece) for piece, _ in parts) < 2 * PIECE + 100_000


def test_a_text_without_a_place_to_cut_is_cut_all_the_same_and_says_so() -> None:
    parts = list(pieces(["─" * (LONGEST + PIECE + 1)]))
    assert [legal for _, legal in parts] == [False, True]
    told = count_stream(["─" * (LONGEST + PIECE + 1)], "o200k_base")
    assert told.error == FORCED


def test_what_was_counted_once_is_known_by_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = ExactCounter("o200k_base")
    texts = [*SAMPLES.values(), "", "\ud800"]
    first = drive(counter.count(texts))
    assert first == [count(text, "o200k_base") for text in texts]
    monkeypatch.setattr(exact, "count", lambda *_: pytest.fail("counted again"))
    assert drive(counter.count(texts)) == first
    assert (counter.name, counter.tier) == ("o200k_base", "exact")
    assert drive(counter.count_request({}, "openai-chat")) is None


def test_only_so_many_texts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "REMEMBERED", 3)
    counter = ExactCounter("o200k_base")
    drive(counter.count(["a", "b", "c", "d", "e"]))
    assert len(counter._known) == 3


def test_a_vocabulary_nobody_has_is_told() -> None:
    with pytest.raises(NotFound, match="no vocabulary 'p50k_base'"):
        ExactCounter("p50k_base")
    with pytest.raises(NotFound, match="name one of cl100k_base, o200k_base"):
        encoding("p50k_base")


@pytest.mark.parametrize("sample", GOLDEN, ids=[sample["kind"] for sample in GOLDEN])
def test_the_golden_counts_are_ours(sample: dict[str, Any]) -> None:
    assert count(sample["text"] * sample["times"], "o200k_base") == sample["tokens"]


def test_estimates_of_the_six_main_kinds_together_are_within_a_tenth() -> None:
    six = [sample for sample in GOLDEN if sample["kind"] in SAMPLES]
    about = sum(estimate(sample["text"] * sample["times"]) for sample in six)
    assert len(six) == 6
    assert abs(about / sum(sample["tokens"] for sample in six) - 1) <= 0.10


def test_special_tokens_are_only_text() -> None:
    assert count("<|endoftext|>", "o200k_base") > 1
