"""What of an entry can be found by its words."""

import pytest
from hypothesis import given

from holdfast.core.search.searchable_text import searchable, searchable_body
from holdfast.model.log import Body, Checkpoint, Clear, Context, Pin, Rewind, Summary, Switch, Undo
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.span import Span
from holdfast.testing.strategies import bodies

PICTURE = Media("image/png", b"\x89PNG", url="https://x.org/a.png", name="chart")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Text("hello"), "hello"),
        (Text(""), ""),
        (Reasoning("let me see"), "let me see"),
        (ToolCall("c", "bash", '{"command": "ls -l"}'), "bash\ncommand\nls -l"),
        (ToolCall("c", "write", '{"x": ["a\\nb", 3, true, null]}'), "write\nx\na\nb\n3\ntrue"),
        (ToolCall("c", "bash", '{"cut off'), 'bash\n{"cut off'),
        (ToolCall("c", "bash", "\ud800"), "bash\n\ud800"),
        (ToolCall("c", "", "[" * 100_000), "[" * 100_000),
        (ToolCall("c", "deep", "[" * 900 + "1" + "]" * 900), "deep\n1"),
        (ToolResult("c", "42"), "42"),
        (ToolResult("c", "42", name="bash", media=(PICTURE,)), "bash\n42\nchart\nhttps://x.org/a.png"),
        (PICTURE, "chart\nhttps://x.org/a.png"),
        (Media("image/png", url="data:image/png;base64,AAAA"), ""),
        (SummaryText("so far"), "so far"),
        (Patch("+x", ("a.py", "b.py")), "a.py\nb.py\n+x"),
        (Snapshot("before"), "before"),
        (Subtask("s", "do it", "done"), "do it\ndone"),
        (Opaque("p", "thinking", b"secret thoughts"), ""),
    ],
)  # fmt: skip
def test_the_words_of_a_part(part: Part, words: str) -> None:
    assert searchable(part) == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (Summary(covers=(Span(1, 2),), text="so far", ledger="not this"), "so far"),
        (Pin(fact="tea", path="x.py"), "tea\nx.py"),
        (Rewind(to=1, reason="wrong way"), "wrong way"),
        (Checkpoint(label="before the move"), "before the move"),
        (Context(sections={"time": "noon", "git": "clean"}), "noon\nclean"),
        (Clear(parts=(), reason="old"), ""),
        (Switch(model="m"), ""),
        (Undo(marker=1), ""),
    ],
)
def test_the_words_of_a_marker(body: Body, words: str) -> None:
    assert searchable_body(body) == (words,)


def test_each_part_keeps_its_place() -> None:
    body = Message("assistant", (Text("a"), Opaque("p", "t", b"x"), Text("b")))
    assert searchable_body(body) == ("a", "", "b")


@given(bodies())
def test_every_body_has_a_text_for_each_of_its_parts(body: Body) -> None:
    many = len(body.parts) if isinstance(body, Message) else 1
    assert len(searchable_body(body)) == many
