"""Input nobody planned for: a clear error or a stated repair, never a crash, never silence."""

import json
import time
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import OverBudget
from holdfast.model.message import Media, Message, Text, ToolCall, ToolResult, assistant
from tests.properties.histories import FORMATS, PNG, opened


@pytest.mark.parametrize("format", FORMATS)
def test_a_result_of_an_unknown_call_is_told_as_text(format: str) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        s.tool_result("never-asked", "an answer to nothing")
        made = s.window()
        assert "an answer to nothing" in json.dumps(made.request(format))
        assert any("call is gone" in fix.what for fix in made.fixes)


@pytest.mark.parametrize("format", FORMATS)
def test_roles_in_any_order_make_a_valid_request(format: str) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.append(assistant("first"))
        s.append(assistant(ToolCall("a", "sh", "{")))
        s.append(Message("tool", (ToolResult("a", "x"), ToolResult("a", "y"))))
        s.append(Message("system", (Text("late rules"),)))
        s.append(assistant("last"))
        made = s.window()
        made.request(format)
        assert {fix.what for fix in made.fixes} >= {
            "a line put before the first reply",
            "a line put behind the last reply",
            "a second result of one call left out",
        }


@pytest.mark.parametrize("format", FORMATS)
def test_surrogates_and_nuls_are_sent_as_something_that_can_be(format: str) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("a\ud800b\x00c\ud83d\ude00")
        written = json.dumps(s.window().request(format))
        written.encode("utf-8")
        assert "\\ud800" not in written
        assert next(s.entries()).body.text == "a\ud800b\x00c\ud83d\ude00"  # type: ignore[union-attr]


@pytest.mark.parametrize("format", FORMATS)
def test_a_hundred_pictures_are_sent_or_refused_with_a_reason(format: str) -> None:
    with opened(1_000_000) as hf:
        s = hf.session(model="m")
        s.append(Message("user", (Text("see"), *(Media("image/png", PNG),) * 100)))
        made = s.window()
        made.request(format)


def test_a_paste_of_30_mb_is_answered_at_once() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        began = time.monotonic()
        s.user("word and more " * 2_200_000)
        with pytest.raises(OverBudget, match="shorten it, attach it as a file"):
            s.window()
        assert time.monotonic() - began < 60  # a hang, not a speed
        s.rewind(0)
        s.user("short")
        assert s.window().over == 0


def test_a_picture_too_large_is_named_in_its_place() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.append(Message("user", (Text("see"), Media("image/png", b"\x89PNG" + b"x" * 6_000_000))))
        made = s.window()
        assert "too large to send" in json.dumps(made.request("anthropic"))
        assert made.fixes


@pytest.mark.parametrize("format", FORMATS)
def test_more_pictures_than_a_request_may_show_are_a_stated_repair(
    format: str, tmp_path: Path
) -> None:
    """On Claude: 110 turns with one each, some too large to stand among many."""
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-opus-4-5")
        for number in range(110):
            side = 4_000 if number % 50 == 49 else 16
            size = side.to_bytes(4, "big") * 2
            shot = Media("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + size)
            s.append(Message("user", (Text(f"turn {number}"), shot)))
        made = s.window()
        assert "image" in str(made.request(format))
        whats = [fix.what for fix in made.fixes]
        assert sum("100 at most" in what for what in whats) == 10
        assert sum("over 2,000 pixels" in what for what in whats) == 2
