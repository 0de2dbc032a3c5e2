"""What has arrived since the last reply is in the next window, under every policy but the seeds."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.core.compaction.clear import _thoughts_until
from holdfast.core.compaction.notes import empty
from holdfast.core.compaction.provider_edits import edits
from holdfast.core.compaction.situation import Situation
from holdfast.core.compaction.summarise import tail_tokens
from holdfast.core.extract import INDEX
from holdfast.core.log.boundary import unread_from
from holdfast.core.tokens.count import weigh
from holdfast.core.window.truncate import all_shown, cap
from holdfast.engine.client import Session
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import InvalidRequest, OverBudget
from holdfast.model.log import Clear, Entry, Notes, Summary
from holdfast.model.message import Message, Reasoning, Text, ToolCall, ToolResult, opaque
from holdfast.model.policy import Summarise, Tail, Thinking
from holdfast.model.profile import Profile
from holdfast.model.span import Span
from holdfast.model.window import Block, Budget, Count, Window
from holdfast.policies import names, policy
from holdfast.testing.factories import entry
from tests.core.situations import situation, user
from tests.properties.ladders import engine
from tests.replay.fresh import OWN

KEEPING = [name for name in names() if policy(name).keeps_unread]
READING = '{"path": "src/app.py"}'


def content(name: str, lines: int) -> str:
    """A file of so many lines."""
    return "\n".join(f"{name}.{n}: def f_{n}(value): return value + {n % 13}" for n in range(lines))


def work(s: Session, name: str, lines: list[int], created: int | None = None) -> list[Entry]:
    """A reply that reads some files, and their contents, each in a message of its own."""
    ids = [f"{name}.{n}" for n in range(len(lines))]
    calls = (ToolCall(id, "read_file", READING) for id in ids)
    s.append(Message("assistant", (Text("I read on."), *calls)), model="m", created=created)
    return [
        s.append(Message("tool", (ToolResult(id, content(id, many)),)))
        for id, many in zip(ids, lines, strict=True)
    ]


def hidden(made: PreparedWindow, fresh: list[Entry], name: str) -> list[str]:
    """Which of these results the window does not show as step 0 shows them."""
    shown = {p.call: p.output for b in made.blocks for p in b.parts if isinstance(p, ToolResult)}
    wanted = all_shown(fresh, cap(policy(name), made.profile))
    parts = (p for e in wanted for p in e.body.parts if isinstance(p, ToolResult))  # type: ignore[union-attr]
    return [part.call for part in parts if shown.get(part.call) != part.output]


def loop(s: Session, name: str, turns: int, lines: int) -> tuple[int, int]:
    """Three rounds of two reads a turn; how many windows were made, how many hid what is new."""
    random, made, hiding = Random(1), 0, 0
    for turn in range(turns):
        s.user(f"turn {turn}: read the next files and say what they do")
        fresh: list[Entry] = []
        for round in range(4):
            made += 1
            hiding += bool(hidden(s.window(system="You are careful."), fresh, name))
            if round < 3:
                many = [random.randrange(lines // 4, lines) for _ in range(2)]
                fresh = work(s, f"c{turn}.{round}", many)
        s.append(Message("assistant", (Text(f"They do {turn} things."),)), model="m")
    return made, hiding


@pytest.mark.parametrize(
    ("model", "window"),
    [("claude-sonnet-4-6", 32_768), ("claude-sonnet-4-6", 16_384), ("gemini-3.1-pro", 32_768)],
)
def test_a_plain_loop_of_reads_sees_every_result(model: str, window: int) -> None:
    with engine(window) as hf:
        assert loop(hf.session(model=model), "holdfast", 25, 200) == (100, 0)


@pytest.mark.parametrize("name", KEEPING)
def test_every_policy_but_the_seeds_shows_what_is_new(name: str) -> None:
    for window in (8_192, 32_768):
        with engine(window) as hf:
            s = hf.session(model="claude-sonnet-4-6", policy=name)
            assert loop(s, name, 8, 150)[1] == 0


def test_more_new_results_than_fit_are_refused_rather_than_hidden() -> None:
    with engine(8_192) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("read all of them")
        work(s, "c", [400] * 40)
        with pytest.raises(OverBudget, match="arrived since the last reply"):
            s.window(system="word " * 3_000)


def test_many_results_of_one_reply_share_what_they_may_take() -> None:
    with engine(32_768) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("read all of them")
        fresh = work(s, "c", [400] * 12)
        assert hidden(s.window(), fresh, "holdfast") == []


def test_results_are_cut_alike_whatever_was_looked_at_before() -> None:
    """One by one with a look at each, behind a rewind, undone, or opened only then."""
    with engine(32_768) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("read all of them")
        fresh = work(s, "c", [400] * 12)
        read = [e.body for e in fresh]
        s.rewind(fresh[0].seq - 1)
        assert hidden(s.window(), [], "holdfast") == []
        seen: list[Entry] = []
        for body in read:
            seen.append(s.append(body))
            assert hidden(s.preview(), seen, "holdfast") == []
        back = s.rewind(seen[4].seq)
        assert hidden(s.preview(), seen[:5], "holdfast") == []
        s.undo(back.seq)
        assert hidden(s.preview(), seen, "holdfast") == []
        assert s.preview().blocks == hf.session(s.id).preview().blocks


def test_a_standing_summary_gives_way_to_what_is_new() -> None:
    with engine(8_192) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for turn in range(12):
            s.user(f"turn {turn} " + "with many words " * 40)
            s.append(Message("assistant", (Text("An answer of some words. " * 60),)), model="m")
            s.window()
        s.user("now read these")
        fresh = work(s, "c", [120, 120, 120])
        assert hidden(s.window(system="word " * 1_500), fresh, "holdfast") == []


@pytest.mark.parametrize("name", KEEPING)
def test_a_compaction_by_hand_in_the_middle_of_a_turn_leaves_what_is_new(name: str) -> None:
    with engine(32_768) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy=name)
        for turn in range(6):
            s.user(f"turn {turn}: read them")
            work(s, f"c{turn}", [100, 100])
            s.append(Message("assistant", (Text(f"Read {turn}. " * 30),)), model="m")
        s.user("and these")
        fresh = work(s, "last", [60, 60])
        for wish in ({}, {"upto": s.info.head}, {"since": 2}):
            try:
                s.apply(s.plan(**wish))  # type: ignore[arg-type]
            except InvalidRequest:  # there is nothing to compact there
                continue
            assert hidden(s.window(), fresh, name) == []
            s.undo()


@pytest.mark.parametrize("over", [False, True])
def test_results_of_parallel_calls_are_not_cleared_by_time_before_a_reply(over: bool) -> None:
    """Seven are more than the five that microcompact keeps; a user may speak over them."""
    with engine(1_000_000) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="claude-code")
        s.user("read all")
        old = work(s, "old", [30] * 8, created=1)
        s.append(Message("assistant", (Text("Read."),)), model="m", created=1)
        s.user("and these")
        fresh = work(s, "new", [30] * 7, created=1)
        if over:
            s.user("wait")
        made = s.window()
        assert hidden(made, fresh, "claude-code") == []
        assert len(hidden(made, old, "claude-code")) == len(old)


def test_notes_that_tell_of_new_results_do_not_take_their_place() -> None:
    """They were written between the results and what the user said over them."""
    with engine(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="claude-code")
        for turn in range(12):
            s.user(f"turn {turn}: read them")
            work(s, f"c{turn}", [100, 100])
            s.append(Message("assistant", (Text(f"Read {turn}. " * 30),)), model="m")
        s.user("and these")
        fresh = work(s, "new", [30] * 3)
        text = f"{empty()}\nread on"
        s.append(Notes(text=text, upto=s.info.head, model="m"))
        s.user("wait")
        plan = s.plan()
        assert plan.step == "notes"
        s.apply(plan)
        assert hidden(s.window(), fresh, "claude-code") == []


def test_a_summary_that_will_be_replaced_takes_no_room_from_what_is_new() -> None:
    covers = (Span(1, 8),)
    told = entry(9, Summary(covers=covers, text="What was said so far. " * 400))
    now = situation(user(10), summaries=(told,), floor=3_000)
    assert now.said(told) > 1_500
    assert now.fixed == 3_000 - now.said(told)
    assert replace(now, since=10).fixed == 3_000  # it stands on, before what is covered then
    most = Summarise(tail=Tail(share=1.0))  # as much as may stay
    alone = situation(user(10), floor=3_000 - now.said(told))
    assert tail_tokens(now, most) == tail_tokens(alone, most)


def test_a_provider_is_asked_to_keep_what_is_new() -> None:
    claude = Profile(
        name="claude", provider="anthropic", window=200_000,
        abilities=frozenset({"context_editing"}),
    )  # fmt: skip
    ids = [f"c{n}" for n in range(9)]
    blocks = [
        _block("user", Text("go")),
        _block("assistant", *(ToolCall(id, "sh", "{}") for id in ids)),
        _block("tool", *(ToolResult(id, "done") for id in ids)),
    ]
    server = replace(policy("claude-code"), strategy="server")
    seed = policy("claude-code@seed")
    kept = [
        edits(one, claude, thinking=False, blocks=blocks)["edits"][0]["keep"]["value"]
        for one in (server, seed)
    ]
    assert kept == [9, 3]


def _block(role: str, *parts: Text | ToolCall | ToolResult) -> Block:
    return Block(section="history", role=role, parts=parts, tokens=1, source="", rule="")  # type: ignore[arg-type]


def test_what_no_reply_has_come_to_begins_with_its_calls() -> None:
    call, result = ToolCall("a", "sh", "{}"), ToolResult("a", "x")
    ask, say = Message("user", (Text("go"),)), Message("assistant", (Text("yes"),))
    called, came = Message("assistant", (call,)), Message("tool", (result,))
    assert unread_from([ask]) == 0
    assert unread_from([ask, say]) == 2
    assert unread_from([ask, say, ask]) == 2
    assert unread_from([ask, called, came]) == 1
    assert unread_from([ask, called, came, ask]) == 1
    assert unread_from([ask, called, ask, say, came]) == 1, "a result that came late"


def finished(s: Session, turns: int = 6) -> None:
    for turn in range(turns):
        s.user(f"Please do the work number {turn}.")
        work(s, f"c{turn}", [80])
        s.append(Message("assistant", (Text(f"Work number {turn} is done. " * 40),)), model="m")


@pytest.mark.parametrize(
    "name", [one for one in names() if policy(one).summarise or policy(one).compact]
)
def test_a_finished_turn_never_stands_there_without_its_answer(name: str) -> None:
    with engine(32_768) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy=name)
        finished(s)
        s.apply(s.plan())
        blocks = s.window().blocks
        behind = [b for b in blocks if b.section in ("history", "current")]
        asked = [b for b in behind if b.role == "user"]
        answered = [b for b in behind if b.role == "assistant"]
        assert not asked or answered, "asked, and nobody says that it was done"


def test_summarise_from_here_stands_behind_what_is_still_visible() -> None:
    with engine(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        finished(s, 8)
        seqs = [e.seq for e in s.entries() if isinstance(e.body, Message) and e.body.role == "user"]
        s.apply(s.plan(since=seqs[4]))
        s.user("go on")
        for again in range(2):
            shown = [(b.section, b.seq) for b in s.window().blocks]
            first = [n for n, (_, seq) in enumerate(shown) if 0 < seq < seqs[4]]
            told = next(n for n, (section, _) in enumerate(shown) if section == "summary")
            last = max(n for n, (section, _) in enumerate(shown) if section == "current")
            assert max(first) < told < last, f"look {again}: {shown}"
            if not again:
                s.undo()
                assert not any(b.section == "summary" for b in s.window().blocks)
                s.redo()


def test_an_earlier_summary_is_not_told_again_by_one_of_what_came_later() -> None:
    with engine(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        finished(s, 10)
        seqs = [e.seq for e in s.entries() if isinstance(e.body, Message) and e.body.role == "user"]
        first = s.apply(s.plan(upto=seqs[3]))
        second = s.apply(s.plan(since=seqs[7]))
        assert isinstance(second.body, Summary)
        assert second.body.merges == ()
        s.user("go on")
        places = [b.seq for b in s.window().blocks if b.section in ("summary", "history")]
        assert places.index(first.seq) < places.index(seqs[5]) < places.index(second.seq)
        fork = s.fork()
        assert [b.section for b in fork.window().blocks] == [b.section for b in s.window().blocks]
        third = s.apply(s.plan())
        assert isinstance(third.body, Summary)
        assert len(third.body.merges) == 2


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_as_many_turns_keep_their_thoughts_as_a_policy_says(keep: int) -> None:
    own = replace(policy("claude-code"), thinking=Thinking(keep=keep, idle=0))

    with engine(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="claude-code")
        for turn in range(5):
            s.user(f"ask {turn}")
            s.append(Message("assistant", (Reasoning("I think."), Text("Done."))), model="m")
        s.user("and now")
        entries = tuple(e for e in s.entries() if e.is_message)
        view = s.view()
        now = Situation(
            view=view, entries=entries, policy=own, profile=s.window().profile,
            budget=s.window().window.budget,
        )  # fmt: skip
    behind = entries[_thoughts_until(now, keep) :]
    left = sum(isinstance(p, Reasoning) for e in behind for p in e.body.parts)  # type: ignore[union-attr]
    assert left == keep


def test_results_in_a_subtask_are_not_cleared_by_time() -> None:
    with engine(1_000_000) as hf:
        main = hf.session(model="claude-sonnet-4-6", policy="claude-code")
        for s, cleared in ((main, True), (main.subtask("a part"), False)):
            s.user("read all")
            work(s, "old", [30] * 8)
            s.append(Message("assistant", (Text("Read."),)), model="m", created=1)
            s.user("and now")
            s.window()
            assert any(isinstance(e.body, Clear) for e in s.entries()) == cleared


def test_a_provider_is_not_asked_to_clear_results_in_a_subtask() -> None:
    with holdfast.open("memory:") as hf:
        main = hf.session(model="claude-sonnet-4-6", policy="claude-code@seed")
        for s, clears in ((main, True), (main.subtask("a part"), False)):
            s.user("read all")
            assert ("clear_tool_uses" in str(s.window().request("anthropic"))) == clears


@pytest.mark.parametrize("name", ["codex", "codex@seed", "claude-code", "opencode", "holdfast"])
def test_what_a_model_is_told_of_a_switch_survives_the_compaction_it_triggers(name: str) -> None:
    with engine(32_768) as hf:
        s = hf.session(model="gpt-large", policy=name)
        for turn in range(12):
            s.user(f"ask {turn}")
            s.append(Message("assistant", (Text("An answer of words. " * 900),)), model="gpt-large")
        s.user("go on")
        made = s.window(model="gpt-5.5")
        assert any(isinstance(e.body, Summary) for e in s.entries())
        texts = [p.text for b in made.blocks for p in b.parts if isinstance(p, Text)]
        assert sum("<model_switch>" in text for text in texts) == 1


def test_what_is_kept_is_cut_in_the_unit_that_it_was_decided_in() -> None:
    """A row of letters is few tokens by estimate, and many by its bytes."""
    with engine(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="codex")
        pasted = "word " * 39_999  # 49,999 tokens of four bytes
        s.append(Message("user", (Text(pasted[:100_000]), Text(pasted[100_000:]))))
        s.append(Message("assistant", (Text("Read."),)), model="m")
        s.user("thanks")
        s.append(Message("assistant", (Text("Welcome."),)), model="m")
        made = s.apply(s.plan())
        assert isinstance(made.body, Summary)
        (cut,) = made.body.shortened
        (block,) = (b for b in s.window().blocks if b.seq == cut.seq)
        size = sum(len(p.text.encode()) for p in block.parts if isinstance(p, Text))
        assert cut.tokens * 0.98 < size / 4 <= cut.tokens <= 20_000
        assert block.rule == f"kept, cut to {cut.tokens} tokens"


def test_a_cut_is_told_and_weighed_in_the_unit_of_the_policy() -> None:
    """The calls of this session took half as much again as was estimated."""
    budget = Budget(window=200_000, output=0, margin=0, room=100_000)
    made = Window(model="m", blocks=(), budget=budget, tokens=Count(tokens=100))
    bytes_, estimated = (
        situation(
            user(1), tokens=150, window=made, policy=replace(policy("codex"), counts_with=way)
        )
        for way in ("bytes/4", "provider")
    )
    assert bytes_.storable(900) == 900
    assert estimated.storable(900) == 600
    pasted = user(2, "x" * 1_600, size=100)  # 400 tokens of four bytes
    assert bytes_.beside(pasted) - bytes_.beside(pasted, 200) == 52  # half of it and its frame
    assert estimated.beside(pasted) == estimated.beside(pasted, 200)


def test_our_own_handles_are_never_names_of_a_session() -> None:
    with engine(8_192) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        random = Random(3)
        for turn in range(30):
            s.user(f"turn {turn}: look at src/part_{turn}/module_{turn}.py")
            handle = f"prt_{s.id[:25]}{turn % 10}.{turn}"
            call = ToolCall(f"r{turn}", "recall", f'{{"handle": "{handle}"}}')
            place = f"#{turn + 1}-#{turn + 3}"
            said = Text(
                f"I recall {handle}, `{handle}` and recall {place} and recall `#{turn + 9}`."
            )
            s.append(Message("assistant", (said, call)), model="m")
            s.append(Message("tool", (ToolResult(call.id, f"[cleared: x · recall {handle}]"),)))
            work(s, f"c{turn}", [random.randrange(40, 160)])
            s.append(Message("assistant", (Text(f"Done with module_{turn}."),)), model="m")
            s.window()
        summaries = [e.body for e in s.entries() if isinstance(e.body, Summary)]
        assert len(summaries) > 3
        assert any("module_" in one.expand + one.text for one in summaries)
        for one in summaries:
            listed = one.expand.partition(INDEX)[2] + one.text.partition(INDEX)[2]
            assert not OWN.search(f"{listed}\n{one.ledger}")
        known = s.ledger().identifiers
        assert known
        assert not any(OWN.search(name) or "#" in name for name in known)


def test_the_environment_is_told_as_elements_from_the_start() -> None:
    with engine(32_768) as hf:
        s = hf.session(model="gpt-5.5", policy="codex")
        s.user("go on")
        (block,) = s.window(context={"cwd": "/w", "shell": "a <b>"}).window.section("context")
        (part,) = block.parts
        assert isinstance(part, Text)
        assert part.text == (
            "<environment_context>\n  <cwd>/w</cwd>\n  <shell>a <b></shell>\n</environment_context>"
        )


def test_a_ghost_snapshot_weighs_nothing() -> None:
    assert weigh(opaque("openai", "ghost_snapshot", b"x" * 4_000)) == 0
    assert weigh(opaque("openai", "reasoning", b"x" * 4_000)) == 1_000
