"""Sessions are named by a beginning of their id; what fits none or several is explained."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.errors import Ambiguous, NotFound
from holdfast.model.log import Draft
from holdfast.model.message import Message, Text


@pytest.fixture(params=["memory:", "sqlite"])
def hf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Holdfast]:
    url = tmp_path / "log.db" if request.param == "sqlite" else request.param
    with holdfast.open(url) as opened:
        yield opened


def test_a_beginning_of_several_says_how_many_and_names_two(hf: Holdfast) -> None:
    ids = [hf.session().id for _ in range(13)]
    begun = ids[0][:6]
    with pytest.raises(Ambiguous, match=f"{begun} fits 13 sessions; give more letters") as told:
        hf.resolve(begun, prefix=True)
    assert told.value.many == 13
    assert set(told.value.nearest) <= set(ids)
    assert len(told.value.nearest) == 2


def test_one_letter_off_is_answered_with_the_session_meant(hf: Holdfast) -> None:
    meant = hf.session().id
    begun = meant[:20]
    wrong = f"{begun[:12]}{'0' if begun[12] != '0' else '1'}{begun[13:]}"
    with pytest.raises(NotFound) as told:
        hf.resolve(wrong, prefix=True)
    assert told.value.nearest == (meant,)


def test_the_parts_of_a_message_are_told_apart(hf: Holdfast) -> None:
    with pytest.raises(NotFound) as told:
        hf.session("nope")
    assert str(told.value) == "no session 'nope'; `holdfast sessions` lists them"


def test_a_search_takes_what_opens_a_session(hf: Holdfast) -> None:
    session, other = hf.session(), hf.session()
    session.user("login here")
    other.user("login there")
    (hit,) = hf.search("login", session=session.id)
    assert (hit.session, hit.seq, hit.created > 0) == (session.id, 1, True)
    with pytest.raises(NotFound):
        hf.search("login", session="nope")


def test_the_index_can_be_brought_up_to_date_a_little_at_a_time(hf: Holdfast) -> None:
    session = hf.session()
    session.append_all([holdfast.user(f"word {n}") for n in range(30)])
    steps = 0
    while hf.index(10):
        steps += 1
    assert steps >= 3
    assert hf.index() == 0


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", ""),
        ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nUse tabs\n</INSTRUCTIONS>", ""),
        ("<system-reminder>be kind</system-reminder>\nFix the login", "Fix the login"),
        ("<user_instructions>never closed", ""),
        ("<bash-input>git switch main</bash-input>", ""),
        ("<bash-stdout>on main</bash-stdout><bash-stderr></bash-stderr>", ""),
        ("<ide_opened_file>a.py is open</ide_opened_file>\nFix the login", "Fix the login"),
        ("<ide_selection>lines 1 to 3</ide_selection>", ""),
        ("# Context from my IDE setup:\n\n## My request for Codex:\nFix it\n", "Fix it"),
        ("Fix @a.py\n\n--- Content from referenced files ---\nNo files.", "Fix @a.py"),
        ("[Request interrupted by user]", ""),
        ("/clear", ""),
        ("/add shop/cart.py", ""),
        ("/etc/hosts is wrong", "/etc/hosts is wrong"),
        ("This is the Gemini CLI. We are setting up the context for our chat.\nIt is May.", ""),
        ("<session_context>\nThis is the Gemini CLI.\n</session_context>", ""),
        ("<current_datetime>2026</current_datetime>\n\nFix the login", "Fix the login"),
        ("<hook_prompt>Did you test?</hook_prompt>", ""),
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a.py", ""),
        ("Another language model started to solve this problem and produced a summary", ""),
        ("Base directory for this skill: /x\n\n# Skill", ""),
        ("Stop hook feedback:\n- lint fails", ""),
        ("Unknown slash command: foo", ""),
        ("Unknown skill: foo is what it says", "Unknown skill: foo is what it says"),
        ("[Image: source: /tmp/a.png]", ""),
        ("Warmup", ""),
        ("Warmup the cache", "Warmup the cache"),
        ("<b>Fix</b> the login", "<b>Fix</b> the login"),
        ("# AGENTS.md is wrong", "# AGENTS.md is wrong"),
    ],
)
def test_an_opening_is_not_what_a_program_says(said: str, own: str, hf: Holdfast) -> None:
    draft = Draft(id="e1", body=Message("user", (Text(said),)), created=1, native="n1")
    session = hf.session()
    drive(hf.engine.store.log.append(session.id, [draft]))
    session.user("And then?")
    assert hf.opening(session.info) == (own or "And then?")


def test_a_command_opens_a_session_where_nothing_else_was_said(hf: Holdfast) -> None:
    session = hf.session()
    session.user("/ls")
    assert hf.opening(session.info) == "/ls"


def test_what_is_said_here_opens_a_session_whatever_it_looks_like(hf: Holdfast) -> None:
    session = hf.session()
    session.user("<system-reminder>be kind</system-reminder>")
    assert hf.opening(session.info) == "<system-reminder>be kind</system-reminder>"
