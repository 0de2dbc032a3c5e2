"""Assembly: sections in the policy's order, and what each named system's window looks like."""

import pytest

from holdfast.core.window.assemble import Seen, Surroundings, assemble
from holdfast.core.window.budget import budget
from holdfast.model.log import Entry, Folded, PartRef, Pinned, Summary
from holdfast.model.message import Media, Message, Text, ToolCall, ToolResult, assistant, tool, user
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import Span
from holdfast.model.window import Tool, Window
from holdfast.policies import policy
from holdfast.testing.factories import entry

PROFILE = Profile(name="m", window=200_000, output_limit=32_000)
TALK = (
    entry(1, user("first question")),
    entry(2, assistant("first answer", ToolCall("c", "sh", "{}"))),
    entry(3, tool(ToolResult("c", "a long result"))),
    entry(4, user("second question")),
)
AROUND = Surroundings(
    system="You are an agent.",
    examples=(user("2+2?"), assistant("4")),
    sections={
        "instructions": "Use tabs.",
        "memory": "The user likes short answers.",
        "repo_map": "src/login.py: login()",
        "read_only_files": "AGENTS.md",
        "context": "cwd: /work",
    },
    pins=((Pinned("p", fact="Never touch production."), None),),
    chat_files="src/login.py …",
    reminder="Answer in diffs.",
    tools=(Tool(name="sh"),),
    tools_tokens=30,
)


def window(
    name: str | Policy, seen: Seen | None = None, around: Surroundings = AROUND, **folded: object
) -> Window:
    chosen = policy(name) if isinstance(name, str) else name
    shown = seen or Seen(folded=Folded(**folded), messages=TALK)  # type: ignore[arg-type]
    return assemble(shown, around, chosen, budget(PROFILE, chosen.budget), "m")


def order(made: Window) -> list[str]:
    names: list[str] = []
    for block in made.blocks:
        told = f"{block.section}:{block.role}"
        if not names or names[-1] != told:
            names.append(told)
    return names


def compacted() -> Seen:
    summary = Summary(covers=(Span(1, 3),), kept=(1,), text="They asked, it answered.")
    return Seen(
        folded=Folded(visible=(Span(4),), kept=(1,), summaries=(5,)),
        messages=(TALK[0], TALK[3]),
        summaries=(entry(5, summary),),
    )


@pytest.mark.seed("001", 7, 8, 9, 11, 12, 13, 14, 15, 142)
def test_aiders_chunks_stand_in_aiders_order() -> None:
    assert order(window("aider")) == [
        "system:system",
        "examples:user",
        "examples:assistant",
        "read_only_files:user",
        "read_only_files:assistant",
        "repo_map:user",
        "repo_map:assistant",
        "memory:user",
        "instructions:user",
        "context:user",
        "pins:user",
        "history:user",
        "history:assistant",
        "history:tool",
        "chat_files:user",
        "chat_files:assistant",
        "current:user",
        "reminder:system",
    ]


@pytest.mark.seed("004", 31)
def test_codex_lays_its_bundle_again_behind_the_summary() -> None:
    assert order(window("codex"))[:4] == [
        "system:system",
        "memory:developer",
        "instructions:user",
        "context:user",
    ]
    after = window("codex", compacted())
    assert order(after)[:6] == [
        "system:system",
        "kept:user",
        "summary:user",
        "memory:developer",
        "instructions:user",
        "context:user",
    ]
    assert order(after)[-3:] == ["current:user", "chat_files:user", "reminder:developer"]
    (kept,) = after.section("kept")
    assert kept.parts == (Text("first question"),)


@pytest.mark.seed("004", 208, 209)
def test_claude_code_says_its_reminders_as_the_user() -> None:
    made = window("claude-code")
    assert order(made)[:3] == ["system:system", "context:system", "instructions:user"]
    (instructions,) = made.section("instructions")
    text = instructions.parts[0].text  # type: ignore[union-attr]
    assert text.startswith("<system-reminder>\n")
    assert "\n# claudeMd\nUse tabs.\n" in text


def test_every_policy_shows_everything_it_is_given() -> None:
    for name in ("holdfast", "aider", "codex", "claude-code", "opencode", "gemini-cli"):
        shown = {block.section for block in window(name).blocks}
        assert shown >= {*AROUND.sections, "system", "examples", "pins", "history", "current"}
        assert {"chat_files", "reminder"} <= shown


def test_a_summary_is_background_and_says_so() -> None:
    (block,) = window("holdfast", compacted()).section("summary")
    text = block.parts[0].text  # type: ignore[union-attr]
    assert text.startswith("<conversation_summary>\nBackground")
    assert "not a new\nrequest" in text
    assert "They asked, it answered." in text
    assert block.parts[0].scaffold == "conversation_summary"  # type: ignore[union-attr]


@pytest.mark.seed("001", 120)
@pytest.mark.seed("004", 151)
def test_a_cleared_part_leaves_its_handle() -> None:
    made = window("holdfast", None, AROUND, cleared=(PartRef(3, 0),))
    result = next(b.parts[0] for b in made.blocks if b.seq == 3)
    assert isinstance(result, ToolResult)
    assert result.call == "c"
    assert f"recall prt_{TALK[2].id}.0" in result.output
    assert "a long result" not in result.output


def test_a_pinned_entry_that_is_shown_anyway_is_not_shown_twice() -> None:
    pins = ((Pinned("p", seq=1), TALK[0]), (Pinned("q", seq=9), entry(9, user("far away"))))
    around = Surroundings(pins=pins)
    made = window("holdfast", None, around)
    assert [b.parts[0].text for b in made.section("pins")] == [  # type: ignore[union-attr]
        "<pinned>\nfar away\n</pinned>"
    ]


@pytest.mark.seed("001", 16)
def test_what_changes_from_call_to_call_is_behind_the_last_breakpoint() -> None:
    for name in ("holdfast", "codex", "claude-code", "opencode"):
        made = window(name)
        last = made.breakpoints[-1]
        assert all(b.section not in ("chat_files", "reminder") for b in made.blocks[: last + 1])
        assert 1 <= len(made.breakpoints) <= 4


@pytest.mark.seed("001", 34)
def test_aider_marks_the_cache_behind_its_examples_map_and_chat_files() -> None:
    made = window("aider")
    marked = [made.blocks[index].section for index in made.breakpoints if index >= 0]
    assert marked == ["examples", "repo_map", "chat_files"]
    assert made.breakpoints[-1] < len(made.blocks) - 2  # behind it stand the question and reminder


def test_a_reminder_that_does_not_fit_is_left_out_where_the_policy_says_so() -> None:
    long = Surroundings(system="x", reminder="word " * 300)
    tight = Profile(name="m", window=200, output_limit=50)
    chosen = policy("aider")
    seen = Seen(folded=Folded(), messages=TALK)
    made = assemble(seen, long, chosen, budget(tight, chosen.budget), "m")
    assert made.section("reminder") == ()
    roomy = assemble(seen, long, chosen, budget(PROFILE, chosen.budget), "m")
    assert len(roomy.section("reminder")) == 1


@pytest.mark.seed("001", 28)
def test_an_overlong_send_is_asked_about_where_the_policy_says_so() -> None:
    tight = Profile(name="m", window=20, output_limit=5)
    seen = Seen(folded=Folded(), messages=TALK)
    asked = assemble(seen, AROUND, policy("aider"), budget(tight, policy("aider").budget), "m")
    assert asked.over > 0
    assert "Send it all the same?" in asked.asks[0]
    assert window("aider").asks == ()


@pytest.mark.seed("001", 141)
def test_a_window_says_how_much_it_is_over_and_never_fails() -> None:
    tight = Profile(name="m", window=100, output_limit=20, most_tools=0, most_images=0)
    chosen = policy("holdfast")
    made = assemble(
        Seen(folded=Folded(), messages=TALK), AROUND, chosen, budget(tight, chosen.budget), "m"
    )
    assert made.over == made.tokens.tokens - made.budget.room > 0


def test_too_many_tools_are_a_shortage() -> None:
    tools = tuple(Tool(name=f"t{i}") for i in range(5))
    chosen = policy("holdfast")
    profile = Profile(name="m", most_tools=3)
    made = assemble(
        Seen(folded=Folded()),
        Surroundings(tools=tools),
        chosen,
        budget(profile, chosen.budget),
        "m",
    )
    (short,) = made.shortages
    assert (short.what, short.have, short.limit) == ("tools", 5, 3)


def test_documents_are_no_pictures() -> None:
    paper, shot = Media("application/pdf", b"%PDF-"), Media("image/png", b"x")
    read = tool(ToolResult("c", "", media=(paper, shot)))
    said = (entry(1, Message("user", (paper, paper))), entry(2, read), entry(3, user("?")))
    seen, chosen = Seen(folded=Folded(), messages=said), policy("holdfast")
    room = budget(Profile(name="m", most_images=1), chosen.budget)
    assert assemble(seen, Surroundings(), chosen, room, "m").shortages == ()
    more = Seen(folded=Folded(), messages=(*said, entry(4, Message("user", (shot,)))))
    (short,) = assemble(more, Surroundings(), chosen, room, "m").shortages
    assert (short.what, short.have, short.limit) == ("images", 2, 1)


def test_memory_above_its_slice_is_a_shortage_and_stays_whole() -> None:
    kept = "The user likes short answers. " * 2_000
    made = window("holdfast", around=Surroundings(sections={"memory": kept}))
    (short,) = made.shortages
    assert (short.what, short.limit) == ("memory", made.budget.memory)
    assert short.have > short.limit
    assert kept.strip() in made.section("memory")[0].parts[0].text  # type: ignore[union-attr]
    assert window("holdfast").shortages == ()


@pytest.mark.seed("004", 61)
def test_text_of_the_harness_does_not_begin_the_current_turn() -> None:
    reminder = Entry(
        id="r",
        session="s",
        seq=5,
        created=0,
        body=Message("user", (Text("cwd is /x", scaffold="environment_context"),)),
        counts=(3,),
    )
    made = window("holdfast", Seen(folded=Folded(), messages=(*TALK, reminder)))
    assert [b.seq for b in made.section("current")] == [4, 5]


def test_what_is_pinned_meanwhile_stands_at_the_tail_until_the_next_summary() -> None:
    old = (Pinned("p", fact="Old.", at=1), None)
    before = window("holdfast", Seen(folded=Folded(), messages=TALK), Surroundings(pins=(old,)))
    pins = (old, (Pinned("q", fact="New.", at=9), None))
    around = Surroundings(pins=pins)
    after = window("holdfast", Seen(folded=Folded(), messages=TALK), around)
    assert after.blocks[: len(before.blocks)] == before.blocks
    assert "New." in after.blocks[-1].parts[0].text  # type: ignore[union-attr]
    seen = compacted()
    later = Seen(
        folded=Folded(visible=(Span(4),), kept=(1,), summaries=(12,)),
        messages=seen.messages,
        summaries=(entry(12, seen.summaries[0].body),),
    )
    texts = [b.parts[0].text for b in window("holdfast", later, around).section("pins")]  # type: ignore[union-attr]
    assert texts == ["<pinned>\nOld.\n</pinned>", "<pinned>\nNew.\n</pinned>"]
