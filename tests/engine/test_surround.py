"""What surrounds the conversation: told when it changes, kept where it was, asked of sources."""

from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.core.tokens.estimate import estimate
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import InvalidRequest
from holdfast.model.log import Context, Summary
from holdfast.model.message import Message, Text, assistant
from holdfast.model.span import Span
from tests.properties.histories import opened


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with opened(200_000) as made:
        yield made


@pytest.fixture
def s(hf: Holdfast) -> Session:
    made = hf.session(model="m")
    made.user("one")
    return made


class Saying:
    """A source that says what it was given to say."""

    def __init__(self, section: Any, said: Any, name: str = "outline") -> None:
        self.name, self.section, self.said = name, section, said

    async def text(self, allowance: int) -> str:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def texts(made: PreparedWindow, section: str = "") -> list[str]:
    return [
        part.text
        for block in made.blocks
        for part in block.parts
        if isinstance(part, Text) and section in ("", block.section)
    ]


def instructed(text: str) -> str:
    return f"<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"


def answered(s: Session) -> None:
    s.append(Message("assistant", (Text("done"),)))
    s.user("go on")


def compacted(s: Session) -> None:
    s.append(Summary(covers=(Span(1, s.refresh().head),), text="so far"))
    s.user("after")


def test_instructions_that_come_back_after_none_are_told(s: Session) -> None:
    s.window(instructions="Use A.")
    assert "no longer applies" in texts(s.window())[-1]
    made = s.window(instructions="Use B.")
    assert "Use B." in texts(made)[-1]
    compacted(s)
    assert texts(s.window(instructions="Use B."), "instructions") == [instructed("Use B.")]


def test_no_sections_at_all_are_no_news(s: Session) -> None:
    s.window()
    assert not any(isinstance(entry.body, Context) for entry in s.entries())
    s.window(instructions="Use A.")
    compacted(s)
    assert "no longer applies" in texts(s.window())[-1]
    compacted(s)
    assert not any("Use A." in text for text in texts(s.window()))


@pytest.mark.seed("004", 52)
def test_sections_given_before_the_first_answer_stand_at_their_place(s: Session) -> None:
    s.window()
    made = s.window(instructions="Use A.")
    assert texts(made, "instructions") == [instructed("Use A.")]


def test_sections_given_first_in_mid_session_are_told_at_the_tail(s: Session) -> None:
    before = s.window()
    answered(s)
    told: dict[str, Any] = {"instructions": "Use A.", "context": {"cwd": "/a"}}
    made = s.window(**told)
    assert texts(made)[: len(texts(before))] == texts(before)
    assert "Use A." in texts(made)[-2]
    assert "<cwd>/a</cwd>" in texts(made)[-1]
    assert texts(made, "instructions") == []
    assert texts(s.window(**told)) == texts(made)
    compacted(s)
    again = s.window(**told)
    assert texts(again, "instructions") == [instructed("Use A.")]
    assert sum("Use A." in text for text in texts(again)) == 1


def test_sections_given_first_after_a_compaction_are_told_at_the_tail(s: Session) -> None:
    compacted(s)
    before = s.window()
    made = s.window(instructions="Use A.")
    assert texts(made)[: len(texts(before))] == texts(before)
    assert "Use A." in texts(made)[-1]


def test_a_conversation_taken_back_to_its_first_request_begins_anew(s: Session) -> None:
    answered(s)
    s.rewind("1")
    assert texts(s.window(instructions="Use A."), "instructions") == [instructed("Use A.")]


def test_values_that_no_longer_apply_are_named(s: Session) -> None:
    s.window(context={"cwd": "/a", "branch": "main", "shell": "sh"})
    last = s.window(context={"cwd": "/a"}).blocks[-1]
    (told,) = [part.text for part in last.parts if isinstance(part, Text)]
    assert "no longer apply: branch, shell." in told
    assert "<environment_context>" not in told


def test_values_in_another_order_are_no_news(s: Session) -> None:
    first = s.window(context={"cwd": "/a", "branch": "main"})
    assert texts(s.window(context={"branch": "main", "cwd": "/a"})) == texts(first)


@pytest.mark.parametrize("context", [{"open file": "a.py"}, {"x>": "1"}])
def test_values_whose_keys_are_no_tags_are_told_as_text(
    s: Session, context: dict[str, str]
) -> None:
    s.window(context={"cwd": "/a"})
    ((key, value),) = context.items()
    told = texts(s.window(context=context))[-1]
    assert f"{key}: {value}" in told
    assert f"<{key}>" not in told


def test_free_text_of_a_source_for_the_context_is_told_whole(s: Session) -> None:
    s.window(sources=[Saying("context", "two files are open")])
    assert "three files" in texts(s.window(sources=[Saying("context", "three files are open")]))[-1]


def test_a_secret_among_the_sections_is_told_once() -> None:
    with opened(200_000) as hf:
        hf.engine.secrets = ("hunter2-hunter2",)
        s = hf.session(model="m")
        s.user("one")
        s.window(instructions="The key is hunter2-hunter2.")
        head = s.refresh().head
        made = s.window(instructions="The key is hunter2-hunter2.")
        assert s.refresh().head == head
        assert "hunter2" not in texts(made, "instructions")[0]


GIVEN: list[dict[str, Any]] = [
    {"instructions": "Use A.", "context": {"cwd": "/a", "branch": "main"}},
    {"instructions": "Use A.", "context": {"cwd": "/b"}},
    {},
    {"instructions": "Use B.", "memory": "word " * 300, "chat_files": "a.py", "reminder": "brief"},
]


@pytest.mark.parametrize("window", [8_192, 200_000])
@pytest.mark.parametrize("begun", [False, True])
def test_a_preview_shows_what_the_window_will(window: int, begun: bool) -> None:
    with opened(window) as hf:
        s = hf.session(model="m")
        s.user("one")
        for number, given in enumerate(GIVEN):
            for _ in range(8 if begun or number else 0):
                s.append(Message("assistant", (Text("word " * 250),)))
                s.user("more")
            head = s.refresh().head
            shown = s.preview(**given)
            assert s.refresh().head == head
            fresh = hf.session(id=s.id).preview(**given)
            made = s.window(**given)
            assert [b.parts for b in shown.blocks] == [b.parts for b in made.blocks]
            assert [b.parts for b in fresh.blocks] == [b.parts for b in made.blocks]
            assert shown.tokens == made.tokens
            again = hf.session(id=s.id).window(**given)
            assert [b.parts for b in again.blocks] == [b.parts for b in made.blocks]


@pytest.mark.parametrize("section", ["system", "pins", "summary", "history", "repo-map", ""])
def test_a_source_for_what_no_source_may_fill_is_refused(s: Session, section: str) -> None:
    with pytest.raises(
        InvalidRequest, match=r"'outline'.*instructions, memory, repo_map.*reminder"
    ):
        s.window(sources=[Saying(section, "x")])


def test_what_a_source_says_joins_what_the_caller_gave(s: Session) -> None:
    names = ("instructions", "memory", "chat_files", "reminder")
    made = s.window(
        sources=[Saying(name, f"more {name}") for name in names],
        **{name: f"given {name}" for name in names},  # type: ignore[arg-type]
    )
    for name in names:
        (text,) = texts(made, name)
        assert f"given {name}\n\nmore {name}" in text


def test_text_beyond_the_allowance_is_cut_at_a_line_and_says_so(s: Session) -> None:
    lines = [f"def function_{number}(): ..." for number in range(20_000)]
    made = s.window(sources=[Saying("repo_map", "\n".join(lines))])
    (shown,) = texts(made, "repo_map")
    assert "more tokens of repo_map left out]" in shown
    kept = [line for line in shown.splitlines() if line.startswith("def ")]
    assert kept == lines[: len(kept)]
    assert made.window.budget.repo_map * 0.95 < estimate(shown) <= made.window.budget.repo_map + 12


def test_one_line_beyond_the_allowance_leaves_only_the_note(s: Session) -> None:
    (shown,) = texts(s.window(sources=[Saying("repo_map", "word " * 100_000)]), "repo_map")
    assert "more tokens of repo_map left out]" in shown
    assert "word" not in shown


@pytest.mark.parametrize("said", [ValueError("no such tree"), None, 7, b"bytes"])
def test_a_source_that_fails_is_named(s: Session, said: Any) -> None:
    with pytest.raises(InvalidRequest, match="outline") as caught:
        s.window(sources=[Saying("repo_map", said)])
    assert caught.value.__cause__ is (said if isinstance(said, Exception) else None)


def test_a_rewind_never_parts_what_was_told_from_its_snapshot() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("one")
        s.window(instructions="Use tabs.")
        s.append(assistant("done"))
        s.user("two")
        s.window()
        told = next(e for e in s.entries() if e.is_message and "no longer" in e.body.text)  # type: ignore[union-attr]
        s.rewind(told.seq)
        s.user("three")
        made = s.window(instructions="Use tabs.")
        words = [p.text for b in made.blocks for p in b.parts if isinstance(p, Text)]
        assert "Use tabs." in [w for w in words if "instructions" in w or "Use tabs." in w][-1]


def test_the_repo_map_may_be_twice_as_large_when_no_files_are_in_the_chat() -> None:
    told: list[int] = []

    class Map:
        name = "map"
        section = "repo_map"

        async def text(self, allowance: int) -> str:
            told.append(allowance)
            return ""

    with opened(128_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        s.window(sources=[Map()], chat_files="a.py")  # type: ignore[list-item]
        s.window(sources=[Map()])  # type: ignore[list-item]
    assert told[1] == 2 * told[0]
