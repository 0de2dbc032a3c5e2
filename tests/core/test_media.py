"""Pictures and pages take what their providers' formulas say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.tokens.count import WEIGHED, frame, texts, weigh
from holdfast.core.tokens.estimate import estimate
from holdfast.core.tokens.media import LARGE, media_tokens, pages, picture_tokens
from holdfast.model.message import (
    Media,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Seal,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.profile import Pictures
from holdfast.providers.catalogue import BuiltIn

MOST_PAGES = 3_000
"""What is promised, in numbers: these tests stand at its edges."""

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + (800).to_bytes(4) + (600).to_bytes(4)

# Anthropic and Google: their vision pages. OpenAI: the worked examples of its vision page.
WORKED = [
    ("claude-haiku-4-5", 200, 200, 64),
    ("claude-haiku-4-5", 1_000, 1_000, 1_334),
    ("claude-haiku-4-5", 8_000, 8_000, 1_568),
    ("claude-opus-5-5", 1_920, 1_080, 2_765),
    ("claude-opus-5-5", 4_000, 3_000, 4_784),
    ("gpt-4o", 1_024, 1_024, 765),
    ("gpt-4o", 2_048, 4_096, 1_105),
    ("gpt-4o-mini", 1_024, 1_024, 25_501),
    ("gpt-5", 1_024, 1_024, 630),
    ("o3", 1_024, 1_024, 675),
    ("gpt-4.1-mini", 1_024, 1_024, 1_659),
    ("o4-mini", 1_800, 2_400, 2_642),
    ("gpt-5.5", 1_024, 1_024, 1_229),
    ("gpt-6-astra", 4_032, 3_024, 14_364),
    ("gemini-2.5-pro", 384, 384, 258),
    ("gemini-2.5-pro", 960, 540, 6 * 258),
    ("gemini-3.1-pro-preview", 4_000, 3_000, 1_120),
]


@pytest.mark.parametrize(("model", "width", "height", "tokens"), WORKED)
def test_a_picture_takes_what_its_provider_says(
    model: str, width: int, height: int, tokens: int
) -> None:
    how = BuiltIn().profile(model).pictures
    assert picture_tokens(width, height, how) == tokens


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_every_picture_takes_something_and_no_more_than_the_most(width: int, height: int) -> None:
    assert 0 < picture_tokens(width, height, Pictures(most=1_568)) <= 1_568
    assert picture_tokens(width, height, Pictures(way="tiles", base=85, each=170)) > 0
    assert picture_tokens(width, height, Pictures(way="crops", side=768, each=258)) > 0


def test_a_size_is_read_from_the_first_bytes_or_taken_to_be_large() -> None:
    how = Pictures()
    assert media_tokens(Media("image/png", PNG), how, 0) == picture_tokens(800, 600, how)
    assert media_tokens(Media("image/png", b"?"), how, 0) == picture_tokens(*LARGE, how)
    told = Media("image/png", PNG, width=10, height=10)
    assert media_tokens(told, how, 0) == 1


def pdf(count: int) -> bytes:
    kids = b"".join(b"%d 0 obj<</Type /Page /Parent 1 0 R>>endobj\n" % n for n in range(count))
    return b"%PDF-1.4\n1 0 obj<</Type/Pages /Count " + b"%d" % count + b">>endobj\n" + kids


def test_pages_are_counted_without_reading_the_document() -> None:
    assert pages(pdf(3)) == 3
    assert pages(b"%PDF-1.7 /Type/Pages /Count 12 " + b"x" * 5_000) == 12
    assert pages(b"%PDF-1.7 compressed" + b"x" * 200_000) == 4
    assert pages(b"") == 1
    assert pages(b"%PDF /Count 999999" + b"x" * 1_000_000) <= MOST_PAGES
    assert media_tokens(Media("application/pdf", pdf(3)), Pictures(), 258) == 774


@given(st.binary())
def test_any_bytes_have_some_pages(data: bytes) -> None:
    assert 1 <= pages(data) <= MOST_PAGES


def test_text_and_sound_take_something_too() -> None:
    assert media_tokens(Media("text/plain", b"word " * 100), Pictures(), 0) == estimate(
        "word " * 100
    )
    assert media_tokens(Media("audio/wav", b"x" * 5_000), Pictures(), 0) == 10


PARTS: list[Part] = [
    Text("hello there"), Reasoning("so", Seal("openai", b"x" * 400)), ToolCall("c", "run", "{}"),
    ToolResult("c", "done", media=(Media("image/png", PNG),)), Media("image/png", PNG),
    SummaryText("all"), Patch("+a"), Snapshot("s"), Subtask("s", "go", "went"),
    Opaque("openai", "compaction", b"x" * 400),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_a_part_is_its_words_and_their_frame(part: Part) -> None:
    from holdfast.core.tokens.estimate import estimate

    assert weigh(part) == sum(map(estimate, texts(part))) + frame(part)
    for way in WEIGHED.values():
        assert way(part) >= 0


def test_policies_that_count_in_fours_do() -> None:
    assert WEIGHED["bytes/4"](Text("é" * 8)) == 4
    assert WEIGHED["chars/4"](Text("é" * 8)) == 2
    assert WEIGHED["bytes/4"](Reasoning("", Seal("openai", b"x" * 1_600))) == 300
    assert WEIGHED["estimate"] is weigh


def test_pictures_are_framed_as_the_model_counts_them() -> None:
    profile = BuiltIn().profile("gpt-4o")
    assert frame(Media("image/png", PNG), profile) == picture_tokens(800, 600, profile.pictures)
