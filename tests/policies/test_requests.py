"""The request that results, word by word: it shows what was said, whole, cut or as a handle."""

import re
from collections.abc import Iterator

import pytest

from tests.policies.playing import Play, Step, record, requested
from tests.policies.story import Said

CAPS = {"codex": 48_000, "opencode": 51_200, "claude-code": 50_000, "gemini-cli": 40_000}
"""How much of an output each shows; Aider and the first Gemini CLI show all of it."""

HEAD_ONLY = ("opencode", "opencode@seed")
TOLD = re.compile(r"<token_budget>\n[\d,]+ of [\d,]+ tokens [^\n]+\n</token_budget>")
"""How full the window is, where a policy says it."""

NAMES = (*CAPS, "codex@seed", "opencode@seed", "claude-code@seed", "gemini-cli@seed", "aider")


def expected(play: Play, step: Step, name: str) -> Iterator[re.Pattern[str]]:
    """What each thing that is shown at its place must read like, in order."""
    for place in step.shown.history:
        one = play.said[place]
        if one.role == "tool":
            yield result(one, name, place in step.shown.cleared)
            continue
        if one.thought:
            yield re.compile(re.escape(one.thought))
        yield re.compile(re.escape(one.text))


def result(one: Said, name: str, cleared: bool) -> re.Pattern[str]:
    """A result as it is shown: a handle, its ends, or the whole."""
    capped = name if name == "gemini-cli@seed" else name.removesuffix("@seed")
    most = CAPS.get(capped, len(one.text))
    if cleared:
        return re.compile(rf"\[cleared: {one.tool} .*recall prt_\w+\.\d+\]")
    if len(one.text) <= most:
        return re.compile(re.escape(one.text))
    half = most if name in HEAD_ONLY else most // 2
    tail = "" if name in HEAD_ONLY else re.escape(one.text[-half:])
    gap = rf"\n\[… [\d,]+ of {len(one.text):,} characters left out here · recall prt_\w+\.\d+ …\]"
    return re.compile(re.escape(one.text[:half]) + gap + (r"\n" + tail if tail else ""))


@pytest.mark.parametrize("name", NAMES)
def test_every_word_of_every_request_is_accounted_for(name: str) -> None:
    play, steps = record(name)
    for step in [step for n, step in enumerate(steps) if step.markers or n % 10 == 0]:
        words = requested(step.made)
        before = step.shown.summaries + len(step.shown.kept)
        left = [said for said in words[before:] if not TOLD.fullmatch(said)]
        for pattern in expected(play, step, name):
            if left and pattern.fullmatch(left[0]):
                left = left[1:]
            elif not _thought_left_out(pattern):
                raise AssertionError(f"{pattern.pattern[:80]} is not {left[:1]}"[:300])
        assert left == []


def _thought_left_out(pattern: re.Pattern[str]) -> bool:
    return pattern.pattern.startswith(re.escape("[thought"))
