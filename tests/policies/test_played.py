"""A long session under every policy, call by call, as written down in tests/golden/played.

What a policy does to a session is a promise to those who rely on it. Each line is a call: what the
window takes by section and in all, and what was compacted for it. A change that is meant is taken
over with

    python -m tests.policies.test_played

and its difference read before it is committed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from holdfast.engine.inspect.ledger import unpacked
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import OverBudget, Unreachable
from holdfast.model.log import Clear, Entry, Summary
from tests.changing import compare, short_hash
from tests.policies.playing import SUMMARY, Play, Voice
from tests.policies.story import told

GOLDEN = Path(__file__).parents[1] / "golden" / "played"
CALLS = 60
FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")


class Counted:
    """Ids that are counted, the same each time."""

    def __init__(self) -> None:
        self._made = 0

    def new(self, at: int | None = None) -> str:
        self._made += 1
        return f"{self._made:026}"


VOICES = {
    "model": lambda: None,
    "failing": lambda: Voice(Unreachable("the endpoint cannot be reached")),
    "empty": lambda: Voice("", SUMMARY),
}
PLAYS = {
    "holdfast-128k": ("holdfast", 128_000, "model"),
    "holdfast-32k": ("holdfast", 32_000, "model"),
    "holdfast-32k-failing": ("holdfast", 32_000, "failing"),
    "holdfast-48k-empty": ("holdfast", 48_000, "empty"),
    "aider-48k": ("aider", 48_000, "model"),
    "claude-code-64k": ("claude-code", 64_000, "model"),
    "claude-code@seed-64k": ("claude-code@seed", 64_000, "model"),
    "codex-48k": ("codex", 48_000, "model"),
    "codex@seed-64k": ("codex@seed", 64_000, "model"),
    "gemini-cli-64k": ("gemini-cli", 64_000, "model"),
    "gemini-cli@seed-64k": ("gemini-cli@seed", 64_000, "failing"),
    "opencode-64k": ("opencode", 64_000, "model"),
    "opencode@seed-48k": ("opencode@seed", 48_000, "empty"),
}


@pytest.mark.parametrize("name", PLAYS)
def test_every_call_of_a_long_session_is_as_written_down(name: str) -> None:
    compare(GOLDEN / f"{name}.txt", described(name), "tests.policies.test_played")


def described(name: str) -> str:
    policy, window, voice = PLAYS[name]
    play = Play(policy, window, VOICES[voice](), Counted())
    return "\n".join([*_calls(play), *_end(play)]) + "\n"


def _calls(play: Play) -> Iterator[str]:
    seen, calls = 0, 0
    for one in told():
        if one.role == "assistant":
            calls += 1
            if calls > CALLS:
                return
            try:
                yield f"{calls}: {_window(play.call())}"
            except OverBudget as error:
                yield f"{calls}: {error}"
                return
            for entry in play.session.entries():
                if entry.seq > seen and isinstance(entry.body, Summary | Clear):
                    yield f"   {_marker(entry)}"
                    seen = entry.seq
        play.say(one)


def _window(made: PreparedWindow) -> str:
    sizes: Counter[str] = Counter()
    for block in made.blocks:
        sizes[f"{block.section}"] += block.tokens
    sections = ", ".join(f"{name} {size}" for name, size in sizes.items())
    places = "".join(f" {block.seq}{block.section[0]}{block.tokens}" for block in made.blocks)
    count, room = made.window.tokens, made.window.budget.room
    return f"{count.tokens}-{count.most} of {room}: {sections} {short_hash(places)}"


def _marker(entry: Entry) -> str:
    fields = msgspec.to_builtins(entry.body, builtin_types=(bytes,))
    if isinstance(entry.body, Summary) and entry.body.facts:
        fields["facts"] = unpacked(entry.body.facts)
    long = {"text", "ledger", "facts", "expand", "folded", "parts"}
    return " ".join(
        f"{name}={short_hash(repr(value)) if name in long else json.dumps(value)}"
        for name, value in fields.items()
    )


def _end(play: Play) -> Iterator[str]:
    """What is asked of the model at last, and what was asked of it for summaries."""
    made = play.session.preview(system="You are a careful engineer.")
    for format in FORMATS:
        request = json.dumps(made.request(format), sort_keys=True, default=repr)
        yield f"{format}: {short_hash(request)}"
    for asked in play.voice.asked:
        question = asked.request("anthropic")
        yield f"asked: {short_hash(json.dumps(question, sort_keys=True, default=repr))}"
    yield f"explained: {short_hash(repr(play.session.explain_now()))}"
    yield f"ledger: {short_hash(repr(play.session.ledger()))}"


def main() -> None:
    """Write down what comes of them now."""
    GOLDEN.mkdir(exist_ok=True)
    for name in PLAYS:
        (GOLDEN / f"{name}.txt").write_text(described(name), "utf-8")


if __name__ == "__main__":
    main()
