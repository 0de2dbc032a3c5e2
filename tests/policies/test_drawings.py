"""The whole request of each system, message by message, against what its description draws.

What is expected is written by hand: a line for each message, who says it and the first line of each
of its parts. The same windows in full are on the pages of docs/policies, made from the same code.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.message import Media, Text
from holdfast.policies import names
from tests.policies import drawing
from tests.policies.playing import MODEL

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8) + (1).to_bytes(4, "big") * 2 + bytes(9)

FIRST = "The first turn"
BEFORE = "After a compaction before a turn"
MIDDLE = "After a compaction in the middle of a turn"
BY_HAND = "After a compaction by hand"
SWITCH = "After a switch of the model"
SMALLER = "After a switch to a model with a smaller window"

SYSTEM = "system    You are an agent that works with tools."
EXAMPLES = ["user      Add a test.", "assistant It is added."]
ASKED = "user      Fix the login."
DONE = [ASKED, "assistant It is fixed."]
NOW = "user      Now the logout."
NEW_MODEL = "developer <model_switch>"

CODEX_DEVELOPER = (
    "developer <permissions instructions> | Prefer small commits. | The shop is tested with pytest."
    " | <collaboration_mode> | <realtime_conversation> | <personality_spec> | <apps_instructions>"
    " | <skills_instructions> | <plugins_instructions>"
    " | End commit messages with: Assisted-by: an agent"
)
CODEX_CONTEXT = "user      # AGENTS.md instructions for /work/shop | <environment_context>"
CODEX = [
    CODEX_DEVELOPER,
    CODEX_CONTEXT,
    "user      login.py: def login",
    "user      README.md of the shop",
    *EXAMPLES,
]
CODEX_LAST = ["user      login.py", "developer Edit with search and replace."]
CODEX_SUMMARY = (
    "user      Another model worked on this task before and left the summary below. Build on it,"
    " and do not do again"
)
KEPT = [ASKED, *(f"user      Question {n}." for n in range(1, 8))]

CLAUDE = [
    SYSTEM,
    "system    The user has denied one command so far.",
    "system    Write down what will matter in another session.",
    "system    <env>",
    "system    # Language",
    "system    # Output style",
    "system    # MCP server instructions",
    "system    # Scratchpad directory",
    "system    <budget:token_budget>",
    "system    gitStatus: branch main, 1 file changed",
    "system    cacheBreaker: 7",
    "user      <system-reminder> # claudeMd # currentDate",
    "user      <system-reminder> The shop is tested with pytest.",
    "user      <system-reminder> login.py: def login",
    "user      <system-reminder> README.md of the shop",
    *EXAMPLES,
]
CLAUDE_LAST = [
    "user      <system-reminder> login.py",
    "user      <system-reminder> Edit with search and replace.",
]
CLAUDE_SUMMARY = (
    "user      This session is carried on from an earlier conversation that no longer fits."
    " The summary below covers"
)
CLAUDE_CHANGED = "user      <system-reminder> The environment has changed:"

AIDER = [
    SYSTEM,
    *EXAMPLES,
    "user      README.md of the shop",
    "assistant Ok.",
    "user      login.py: def login",
    "assistant Ok.",
    "user      The shop is tested with pytest.",
    "user      Use tabs.",
    "user      cwd: /work/shop",
]
AIDER_FILES = ["user      login.py", "assistant Ok."]
AIDER_LAST = "system    Edit with search and replace."

OPENCODE = [
    SYSTEM,
    "system    <env>",
    "system    Use tabs.",
    "system    The shop is tested with pytest.",
    "user      login.py: def login",
    "user      README.md of the shop",
    *EXAMPLES,
]
OPENCODE_LAST = [
    "user      login.py",
    "user      <system-reminder> Edit with search and replace.",
]
OPENCODE_SUMMARY = "user      The login was fixed. Nothing is open."

GEMINI = [
    SYSTEM,
    "system    Use tabs.",
    "system    The shop is tested with pytest.",
    "user      cwd: /work/shop",
    "user      login.py: def login",
    "user      README.md of the shop",
    *EXAMPLES,
]
GEMINI_LAST = ["user      login.py", "user      Edit with search and replace."]

HOLDFAST = [
    SYSTEM,
    "developer <permissions instructions> | Prefer small commits."
    " | Write down what will matter in another session. | The user has denied one command so far."
    " | <collaboration_mode> | <realtime_conversation> | <personality_spec> | # Language"
    " | # Output style | <apps_instructions> | # MCP server instructions | <skills_instructions>"
    " | <plugins_instructions> | End commit messages with: Assisted-by: an agent"
    " | # Scratchpad directory | <token_budget> | gitStatus: branch main, 1 file changed"
    " | cacheBreaker: 7",
    *EXAMPLES,
    "user      <INSTRUCTIONS>",
    "user      <system-reminder> The shop is tested with pytest.",
    "user      <repo_map>",
    "user      README.md of the shop",
    "user      <environment_context>",
]
HOLDFAST_LAST = ["user      login.py", "user      <system-reminder> Edit with search and replace."]
HOLDFAST_KEPT = "user      <earlier_message>"
HOLDFAST_SUMMARY = "user      <conversation_summary>"


def answers(first: int, last: int) -> list[str]:
    """Finished turns that stand word for word."""
    return [
        line
        for n in range(first, last + 1)
        for line in (f"user      Question {n}.", f"assistant Answer {n}. …")
    ]


def calls(first: int, last: int) -> list[str]:
    """Tool calls of the turn that goes on, each with its result."""
    return [
        line
        for n in range(first, last + 1)
        for line in (f"assistant call c{n}: Read", f"tool      result of c{n}: Result {n}. …")
    ]


def codex(*, reads_first: bool) -> dict[str, list[str]]:
    """Its first description loses a result that no reply has come to; law 2 keeps it."""
    after = [CODEX_SUMMARY, *CODEX, NOW]
    return {
        FIRST: [SYSTEM, *CODEX, ASKED, *CODEX_LAST],
        BEFORE: [SYSTEM, *KEPT, *after, *CODEX_LAST],
        MIDDLE: [SYSTEM, *KEPT[:-1], *after, *(calls(2, 2) if reads_first else []), *CODEX_LAST],
        BY_HAND: [SYSTEM, *KEPT[:4], *after, *CODEX_LAST],
        SWITCH: [SYSTEM, *CODEX, *DONE, NOW, NEW_MODEL, *CODEX_LAST],
        SMALLER: [SYSTEM, *KEPT[:5], *after, NEW_MODEL, *CODEX_LAST],
    }


def claude_code(*, reads_first: bool) -> dict[str, list[str]]:
    after = [*CLAUDE, CLAUDE_SUMMARY, NOW]
    unread = [*calls(2, 2), "user      <token_budget>"] if reads_first else []
    changed = [CLAUDE_CHANGED] if reads_first else []
    return {
        FIRST: [*CLAUDE, ASKED, *CLAUDE_LAST],
        BEFORE: [*after, *CLAUDE_LAST],
        MIDDLE: [*after, *unread, *CLAUDE_LAST],
        BY_HAND: [*after, *CLAUDE_LAST],
        SWITCH: [*CLAUDE, *DONE, NOW, CLAUDE_CHANGED, NEW_MODEL, *CLAUDE_LAST],
        SMALLER: [*after, *changed, NEW_MODEL, *CLAUDE_LAST],
    }


def aider() -> dict[str, list[str]]:
    """It never acts in the middle of a turn: what is going on is no part of its history."""
    frame, summary = [*AIDER_FILES, NOW], [*AIDER, "user      [chat summary]"]
    return {
        FIRST: [*AIDER, *AIDER_FILES, ASKED, AIDER_LAST],
        BEFORE: [*summary, *frame, AIDER_LAST],
        MIDDLE: [*AIDER, *DONE, *frame, *calls(1, 15), AIDER_LAST],
        BY_HAND: [*summary, *frame, AIDER_LAST],
        SWITCH: [*AIDER, *DONE, *frame, CLAUDE_CHANGED, NEW_MODEL, AIDER_LAST],
        SMALLER: [*summary, *frame, CLAUDE_CHANGED, NEW_MODEL, AIDER_LAST],
    }


def opencode(*, reads_first: bool) -> dict[str, list[str]]:
    after = [*OPENCODE, OPENCODE_SUMMARY, NOW]
    changed = [CLAUDE_CHANGED] if reads_first else []
    return {
        FIRST: [*OPENCODE, ASKED, *OPENCODE_LAST],
        BEFORE: [*after, *OPENCODE_LAST],
        MIDDLE: [*after, *(calls(1, 1) if reads_first else []), *OPENCODE_LAST],
        BY_HAND: [*after, *OPENCODE_LAST],
        SWITCH: [*OPENCODE, *DONE, NOW, CLAUDE_CHANGED, NEW_MODEL, *OPENCODE_LAST],
        SMALLER: [*after, *changed, NEW_MODEL, *OPENCODE_LAST],
    }


def gemini_cli() -> dict[str, list[str]]:
    summary = [*GEMINI, "user      The login was fixed. Nothing is open."]
    return {
        FIRST: [*GEMINI, ASKED, *GEMINI_LAST],
        BEFORE: [*summary, *answers(5, 5), NOW, *GEMINI_LAST],
        MIDDLE: [*summary, NOW, *calls(1, 2), *GEMINI_LAST],
        BY_HAND: [*summary, NOW, *GEMINI_LAST],
        SWITCH: [*GEMINI, *DONE, NOW, CLAUDE_CHANGED, NEW_MODEL, *GEMINI_LAST],
        SMALLER: [*summary, *answers(4, 4), NOW, CLAUDE_CHANGED, NEW_MODEL, *GEMINI_LAST],
    }


def gemini_cli_at_first() -> dict[str, list[str]]:
    """It keeps everything: nothing is ever compacted."""
    full = [*GEMINI, *DONE, *answers(1, 15), NOW]
    return {
        FIRST: [*GEMINI, ASKED, *GEMINI_LAST],
        BEFORE: [*full, *GEMINI_LAST],
        MIDDLE: [*full, *calls(1, 15), *GEMINI_LAST],
        BY_HAND: [*GEMINI, *DONE, *answers(1, 3), NOW, *GEMINI_LAST],
        SWITCH: [*GEMINI, *DONE, NOW, CLAUDE_CHANGED, NEW_MODEL, *GEMINI_LAST],
        SMALLER: [*GEMINI, *DONE, *answers(1, 4), NOW, CLAUDE_CHANGED, NEW_MODEL, *GEMINI_LAST],
    }


def holdfast() -> dict[str, list[str]]:
    """What the user said stays beside the summary, in a tag that says that it is past."""

    def after(kept: int) -> list[str]:
        return [*HOLDFAST, *[HOLDFAST_KEPT] * kept, HOLDFAST_SUMMARY, NOW]

    environment = "user      <environment_context>"
    return {
        FIRST: [*HOLDFAST, ASKED, *HOLDFAST_LAST],
        BEFORE: [*after(8), *HOLDFAST_LAST],
        MIDDLE: [*after(7), *calls(1, 1), *HOLDFAST_LAST],
        BY_HAND: [*after(4), *HOLDFAST_LAST],
        SWITCH: [*HOLDFAST, *DONE, NOW, environment, NEW_MODEL, *HOLDFAST_LAST],
        SMALLER: [*after(5), environment, NEW_MODEL, *HOLDFAST_LAST],
    }


EXPECTED: dict[str, dict[str, list[str]]] = {
    "codex": codex(reads_first=True),
    "codex@seed": codex(reads_first=False),
    "claude-code": claude_code(reads_first=True),
    "claude-code@seed": claude_code(reads_first=False),
    "aider": aider(),
    "opencode": opencode(reads_first=True),
    "opencode@seed": opencode(reads_first=False),
    "gemini-cli": gemini_cli(),
    "gemini-cli@seed": gemini_cli_at_first(),
    "holdfast": holdfast(),
}


@pytest.mark.seed("000", 11)
@pytest.mark.seed("001", 46)
@pytest.mark.seed("004", 22, 23, 29, 30, 31, 37, 38, 39, 40, 41, 42, 46, 47, 48, 49, 50, 51)
@pytest.mark.seed("004", 201, 203, 204, 205, 206, 208, 209, 213)
@pytest.mark.parametrize("name", names())
def test_every_message_of_every_scene_is_as_described(name: str) -> None:
    for title, lines in EXPECTED[name].items():
        drawn = drawing.outline(name)[title]
        assert drawn == lines, title
    assert [*EXPECTED[name]] == [*drawing.SCENES]


@pytest.mark.parametrize("page", sorted({drawing.page_of(name) for name in names()}), ids=str)
def test_the_page_of_each_policy_shows_what_is_sent(page: Path) -> None:
    assert drawing.shown(page) == drawing.to_show(page), "run: python -m tests.policies.drawing"


@pytest.mark.parametrize("name", ["codex", "codex@seed"])
def test_the_developer_bundle_is_one_message_of_the_request(name: str) -> None:
    made = drawing.first_turn(name)
    items = made.request("openai-responses")["input"]
    first, context = items[0], items[1]
    assert (first["role"], context["role"]) == ("developer", "user")
    texts = [part["text"] for part in first["content"]]
    assert [text.splitlines()[0] for text in texts] == CODEX_DEVELOPER[10:].split(" | ")
    assert {part["type"] for part in first["content"]} == {"input_text"}
    assert [part["text"] for part in context["content"]] == [
        "# AGENTS.md instructions for /work/shop\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        """<environment_context>
  <cwd>/work/shop</cwd>
  <shell>zsh</shell>
  <current_date>2026-11-19</current_date>
  <timezone>Europe/Berlin</timezone>
  <network enabled="true">
    <allowed>pypi.org</allowed>
    <denied>*.internal</denied>
  </network>
  <subagents>
    <reviewer>running</reviewer>
  </subagents>
</environment_context>""",
    ]


def test_claude_code_has_its_system_parts_and_one_reminder_for_the_context() -> None:
    request = drawing.first_turn("claude-code").request("anthropic")
    system = [part["text"].splitlines()[0] for part in request["system"]]
    assert system == [line[10:] for line in CLAUDE if line.startswith("system")]
    first = request["messages"][0]["content"][0]["text"]
    assert (
        first
        == """<system-reminder>
As you answer the user's questions, you can use the following context:
# claudeMd
Use tabs.
# currentDate
Today's date is 2026-11-19.
IMPORTANT: this context may or may not be relevant to what is asked. Leave it aside unless it is.
</system-reminder>"""
    )


@pytest.mark.seed("004", 54, 55)
def test_codex_lays_pictures_in_tags_and_numbers_those_of_this_machine() -> None:
    play = drawing.begun("codex")
    here = Media("image/png", data=PNG)
    there = Media("image/png", url="https://example.org/a.png")
    play.session.user("Look at these.", here, there, here)
    parts = drawing.asked(play).window.section("current")[0].parts
    tags = [part.text for part in parts if isinstance(part, Text)]
    assert tags == [
        "Look at these.", '<image name="[Image #1]">', "</image>", "<image>", "</image>",
        '<image name="[Image #2]">', "</image>",
    ]  # fmt: skip
    plain = drawing.begun("opencode")
    plain.session.user("Look.", here)
    texts = [
        p for p in drawing.asked(plain).window.section("current")[0].parts if isinstance(p, Text)
    ]
    assert [part.text for part in texts] == ["Look."]


@pytest.mark.seed("001", 32)
def test_who_says_aiders_reminder_is_the_models_matter() -> None:
    play = drawing.begun("aider")
    play.models.others["modest"] = {"reminder": "user"}
    play.session.user("Now the logout.")
    made = drawing.asked(play, model="modest")
    reminder = made.window.blocks[-1]
    assert (reminder.section, reminder.role) == ("reminder", "user")
    assert drawing.first_turn("aider").window.blocks[-1].role == "system"


@pytest.mark.seed("001", 44)
def test_a_model_may_have_a_limit_of_its_own_for_compaction() -> None:
    play = drawing.begun("codex", 3)
    play.session.user("Now the logout.")
    assert not drawing.compacted(drawing.asked(play))
    other = drawing.begun("codex", 3)
    other.models.others[MODEL] = {"auto_compact_limit": 40_000}
    other.session.user("Now the logout.")
    assert drawing.compacted(drawing.asked(other))


@pytest.mark.seed("004", 174)
def test_a_summary_of_claude_code_says_where_messages_stay_behind_it() -> None:
    play = drawing.begun("claude-code", 3)
    play.session.apply(play.session.plan(upto=len([*play.session.entries()]) - 4))
    play.session.user("Now the logout.")
    [summary] = drawing.asked(play).window.section("summary")
    told = str(getattr(summary.parts[0], "text", ""))
    assert "The most recent messages are preserved word for word" in told
    assert told.rstrip().endswith("announce that you will continue.")
    whole = drawing.by_hand("claude-code").window.section("summary")[0]
    assert "preserved word for word" not in str(getattr(whole.parts[0], "text", ""))
