"""Pages for reading: everything in them is text, whatever was said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.exporters.markdown import fenced
from holdfast.model.log import Summary
from holdfast.model.message import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    seal,
    user,
)
from holdfast.model.span import Span
from holdfast.testing.factories import HOSTILE, entry, every_part
from holdfast.testing.strategies import next_entry
from tests.exporters.carried import exported, others, told, written

ATTACKS = (
    "<script>alert(1)</script>",
    "</pre></section></body><script src=//evil.example></script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!-- <svg onload=alert(1)> -->",
    "<![CDATA[<script>]]>",
    "</style><style>body{background:url(//evil.example)}</style>",
    "</title><base href=//evil.example>",
    "&lt;script&gt; &#60;script&#62; &amp;lt;",
    "<\x00script>\x01\x0b",
    "javascript:alert(1) data:text/html,<script>",
    "\u202e\u2066<b>\ud800",
    "```\n</details>\n<iframe srcdoc='<script>'>\n```",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<?php system('id') ?> {{7*7}} ${7*7}",
)
OURS = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "http-equiv", "content", "name"},
    "title": set(), "style": set(), "body": set(), "h1": set(), "h2": set(), "ul": set(),
    "li": set(), "section": {"class"}, "pre": set(), "p": {"class"}, "details": {"class"},
    "summary": set(), "code": set(), "footer": set(),
}  # fmt: skip


class Seen(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.other: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    handle_pi = unknown_decl = handle_comment


def read(page: bytes) -> Seen:
    seen = Seen()
    seen.feed(page.decode("utf-8"))
    seen.close()
    return seen


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as opened:
        yield opened


def spoken(hf: Holdfast, text: str, id: str) -> Session:
    """A session in which this text stands wherever text can stand."""
    log = [entry(1, Message("assistant", every_part(text))), entry(2, text)]
    for letter in "SCPcxwrR":
        log.append(next_entry(log, letter, (0, 1, 1, 1)))
    log.append(entry(len(log) + 1, Summary(covers=(Span(1, 1),), text=text, ledger=text)))
    log += [entry(len(log) + 1 + n, body) for n, body in enumerate(others(1))]
    return written(hf, log, id, title=text, directory=text, agent=text, model=text)


@pytest.mark.parametrize("text", [*ATTACKS, *HOSTILE])
def test_nothing_that_was_said_becomes_a_tag_or_an_attribute(hf: Holdfast, text: str) -> None:
    plain = read(exported(spoken(hf, "plain words", "PLAIN"), "html", raw=True))
    seen = read(exported(spoken(hf, text, "HOSTILE"), "html", raw=True))
    kinds = {tag for tag, _ in seen.tags}
    assert kinds <= set(OURS)
    for tag, attributes in seen.tags:
        assert {name for name, _ in attributes} <= OURS[tag]
    values = {(tag, attributes) for tag, attributes in seen.tags}
    assert values <= {(tag, attributes) for tag, attributes in plain.tags}
    assert seen.other == []


def test_the_page_forbids_what_it_does_not_need(hf: Holdfast) -> None:
    page = exported(spoken(hf, "words", "ONE"), "html").decode()
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_what_was_said_can_be_read(hf: Holdfast) -> None:
    text = "<b>bold</b> & \"quoted\" 'words' \u2028 😀"
    page, fidelity = told(spoken(hf, text, "ONE"), "html")
    assert text in read(page).text
    assert "2 pictures or documents, only named" in fidelity.not_carried
    assert any("of the program it was imported from" in each for each in fidelity.not_carried)
    assert "Not carried" in read(page).text


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_thought_that_nobody_can_read_is_told_as_such(form: str, hf: Holdfast) -> None:
    session = hf.session(model="gpt-5.1")
    session.user("Why?")
    thought = Reasoning("", seal("openai", b'{"encrypted_content":"c2VhbGVk"}'))
    session.append(holdfast.assistant(thought, Text("Because.")))
    page, fidelity = told(session, form)
    assert "a thought that only openai can read" in page.decode()
    assert "1 encrypted thought, which only the provider can read" in fidelity.not_carried


@pytest.mark.parametrize("text", ["plain", "a\n```\nb", "`````", "~~~\n````md", ""])
def test_nothing_ends_a_fence_early(text: str) -> None:
    first, *inside, last, end = fenced(text).split("\n")
    assert (first, end) == (last, "")
    assert set(first) == {"`"}
    assert "\n".join(inside) == text
    assert all(not row.startswith(first) for row in inside)


@pytest.mark.seed("003", 11)
def test_markdown_is_readable_and_closes_what_was_left_open(hf: Holdfast) -> None:
    session = hf.session(model="gpt-5.1", title="The *roof*")
    session.user("Look:\n```python\nroof()")
    session.user("Next.")
    text = exported(session, "markdown").decode()
    assert text.startswith("# The \\*roof\\*\n")
    assert "roof()\n```\n\n## \\#2 user" in text
    assert "Carried:\n\n- 2 messages, in their order\n" in text


def test_a_text_to_hand_over_hides_nothing_and_moves_no_cursor(hf: Holdfast) -> None:
    session = hf.session()
    said = "do \x1b]0;x\x07 \u202e \U000e0041 \x9b2J"
    session.append_all(
        [user(said), assistant(ToolCall("c", "Bash", json.dumps({"command": said})))]
    )
    text = hf.handoff(session.id, "markdown").data.decode()
    assert not {*"\x1b\x07\u202e\U000e0041\x9b"} & {*text}
    assert text.count("␛]0;x␇ <U+202E> <U+E0041> <U+009B>") >= 2


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_a_page_is_called_as_the_session_is_and_results_as_their_tools(format: str) -> None:
    key = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
    with holdfast.open("memory:") as hf:
        session = hf.session(model="gpt-5.1")
        session.user("Look  at\nthe roof. " + "Please. " * 20 + key + " Please." * 20)
        session.append(assistant(ToolCall("toolu_017", "shell", '{"cmd":"look"}')))
        session.append(Message("tool", (ToolResult("toolu_017", "a hole"),)))
        page = exported(session, format).decode()
    title = page[page.index("<h1>" if format == "html" else "# ") :].splitlines()[0]
    assert "Look at the roof. Please." in title
    assert "…" in title
    assert key[:20] not in page
    assert "shell answered" in page
    assert "toolu_017" not in page


def test_a_page_shows_commands_how_they_ended_and_who_spoke(hf: Holdfast) -> None:
    session = hf.session(model="claude-sonnet-4-6", title="The roof")
    session.append(Message("user", (Text("<environment>x</environment>", "environment"),)))
    session.user("Mend the roof")
    session.append(assistant(ToolCall("c1", "Bash", '{"command": "git status && ls", "t": 9}')))
    session.append(Message("user", (ToolResult("c1", "on branch main\nroof.py"),)))
    session.append(assistant(ToolCall("c2", "shell", '{"command": ["bash", "-lc", "make"]}')))
    session.append(Message("tool", (ToolResult("c2", "no rule to make target", error=True),)))
    page = exported(session, "html").decode()
    assert "<summary>calls Bash <code>git status &amp;&amp; ls</code></summary>" in page
    assert "<summary>calls shell <code>bash -lc make</code></summary>" in page
    assert "<summary>Bash answered <code>on branch main · 2 lines</code></summary>" in page
    failed = '<details class="failed">\n<summary>shell failed <code>no rule to make target</code>'
    assert failed in page
    spoke = ["#1 context", "#2 user", "#3 assistant", "#4 tool", "#5 assistant", "#6 tool"]
    for one in spoke:
        assert f"<h2>{one}" in page
    assert '<section class="tool">\n<h2>#4 tool' in page
