"""Pictures of the terminal: shown in the README, whole in themselves, and made of what is seen."""

import re

import pytest

from tests.docs.pages import ROOT
from tools.screenshot import picture

SCREEN = "\x1b[1mholdfast\x1b[0m · \x1b[36m→ read a.py\x1b[0m\n  <tag> & “words”\n"


def test_a_screen_becomes_a_picture() -> None:
    svg = picture(SCREEN, "a title")
    texts = re.sub(r"<[^>]+>", "\n", svg).replace("&#160;", " ")
    for words in ("a title", "holdfast", "→ read a.py", "&lt;tag&gt; &amp; “words”"):
        assert words in texts


def test_a_picture_fetches_nothing() -> None:
    assert re.findall(r"url\((?!\"?#)|https?://(?!www\.w3\.org/)", picture(SCREEN, "t")) == []


@pytest.mark.parametrize("name", ["chat", "context"])
def test_the_readme_shows_it(name: str) -> None:
    assert f"](docs/pictures/{name}.svg)" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["start", "chat", "compaction", "resume"])
def test_the_page_of_the_agent_shows_it(name: str) -> None:
    assert f"](pictures/{name}.svg)" in (ROOT / "docs" / "agent.md").read_text("utf-8")


def test_the_page_of_rewinds_shows_it() -> None:
    assert "](pictures/rewind.svg)" in (ROOT / "docs" / "rewind.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["start", "chat", "compaction", "resume", "context", "rewind"])
def test_it_shows_nothing_of_the_machine_it_was_made_on(name: str) -> None:
    shown = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text("utf-8")
    assert "claude-sonnet-4-6" in shown.replace("&#160;", " ")
    assert "canary" not in shown
    assert "/tmp/" not in shown
