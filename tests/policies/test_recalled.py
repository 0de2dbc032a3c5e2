"""What leaves a window under any policy leaves its handle there, as the page on policies says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.model.message import Text, assistant
from holdfast.policies import names

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "policies" / "index.md").read_text("utf-8")
SUMMARY = "<summary>They count things of many kinds, and each was answered so far.</summary>"
LISTED = sorted(
    set(re.findall(r"`([\w-]+(?:@seed)?)`", PAGE.split("|---|---|---|")[1].split("\n\n")[0]))
)
NAMED = [name for name in LISTED if not name.endswith("@seed")]
SEEDS = [name for name in LISTED if name.endswith("@seed") and name != "gemini-cli@seed"]


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as hf:
        yield hf


def talked(hf: Holdfast, policy: str, *, asked: bool) -> Session:
    voice = (lambda question: SUMMARY) if asked else None
    s = hf.session(model="gpt-4", policy=policy, summariser=voice)
    for n in range(24):
        s.user(f"count the things of kind {n} " + "please " * 60)
        s.append(assistant(f"there are {n} things " + "of that kind " * 40))
    s.user("and now?")
    return s


def shown(s: Session) -> str:
    blocks = s.window().blocks
    return "\n".join(part.text for b in blocks for part in b.parts if isinstance(part, Text))


def test_the_page_lists_every_policy_and_makes_the_promise() -> None:
    assert sorted(names()) == LISTED
    assert "What leaves a window leaves a handle behind" in PAGE
    assert "The `@seed` variants alone say nothing of it" in PAGE


@pytest.mark.seed("000", 86)
@pytest.mark.seed("004", 173)
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("policy", NAMED)
def test_one_line_says_how_what_left_can_be_brought_back(
    hf: Holdfast, policy: str, asked: bool
) -> None:
    s = talked(hf, policy, asked=asked)
    s.apply(s.plan())
    text = shown(s)
    assert "recall" in text
    if policy == "holdfast":
        return  # it says so before a summary, and lists what is large behind it
    handles = re.findall(r"recall (#\d+-#\d+) brings it back", text)
    assert len(handles) == 1
    assert "count the things of kind 0" in s.recall(handles[0]).text


@pytest.mark.parametrize("policy", [name for name in NAMED if name != "holdfast"])
def test_the_line_tells_of_all_that_earlier_summaries_covered(hf: Holdfast, policy: str) -> None:
    told: list[str] = []

    def voice(question: Any) -> str:
        return SUMMARY.replace("</", f" {told[-1]}</") if told else SUMMARY

    s = hf.session(model="gpt-4", policy=policy, summariser=voice)
    for _ in range(3):
        for n in range(24):
            s.user(f"count the things of kind {n} " + "please " * 60)
            s.append(assistant(f"there are {n} things " + "of that kind " * 40))
        s.user("and now?")
        s.apply(s.plan())
        s.append(assistant("Fine."))
        told += re.findall(r"\[All that .*brings it back.*\]", shown(s))
    assert len(told) == 3  # none is copied from the summary before
    first, last = map(int, re.findall(r"#(\d+)", told[-1]))
    assert first == 1
    assert last > 60
    assert "count the things of kind 0" in s.recall(f"#{first}-#{last}").text


def test_the_line_does_not_tell_of_what_stays_visible(hf: Holdfast) -> None:
    s = talked(hf, "claude-code", asked=True)
    s.apply(s.plan(upto=10))
    s.apply(s.plan(since=21))
    for n in range(12):
        s.append(assistant("Fine. " * 60))
        s.user(f"and again {n} " + "please " * 60)
    s.apply(s.plan(since=21))
    found = re.findall(r"recall #(\d+)-#(\d+) brings", shown(s))
    assert [first for first, _ in found] == ["1", "21"]


@pytest.mark.parametrize("policy", SEEDS)
def test_as_first_described_nothing_is_said_of_it(hf: Holdfast, policy: str) -> None:
    s = talked(hf, policy, asked=True)
    s.apply(s.plan())
    assert "recall" not in shown(s)
