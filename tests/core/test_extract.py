"""A summary without a model quotes and lists, within its budget, and nothing but what was said."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.extract import HEADING, INDEX, extract
from holdfast.core.extract import name_index as listed
from holdfast.core.extract.quotes import cut, sentences
from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.render import render
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Entry
from holdfast.model.message import (
    Message,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    tool,
    user,
)
from tests.conftest import ROOT
from tests.core.quoting import unfaithful

CHINESE = (
    "请把 `Scene_Craft` 的合成列表改成两列。不要动数据库结构！合成后刷新window_craftlist.rb窗口。"
)
JAPANESE = (
    "ログイン処理を直してください。src/auth/login_handler.pyの例外が原因です。テストも追加して。"
)
THAI = "ช่วยแก้หน้าเข้าสู่ระบบให้หน่อย ไฟล์ src/pages/login_page.tsx มีปัญหาตอนกดปุ่ม"
PALI = "พยายามทำให้ระบบเร็วขึ้นโดยไม่เปลี่ยนโครงสร้าง" * 40


def log(*bodies: Message, first: int = 1) -> list[Entry]:
    return [
        Entry(id=f"e{seq}", session="s", seq=seq, body=body, created=seq, completed=seq)
        for seq, body in enumerate(bodies, first)
    ]


WORK = log(
    user("Fix the cart total in shop/cart.py. Never touch the schema. Use `round_half_even`."),
    assistant("I will look at it first.", ToolCall("1", "Read", '{"file_path": "shop/cart.py"}')),
    tool(ToolResult("1", "def cart_total(items):\n    return sum(items)\n# see shop/money.py")),
    assistant(ToolCall("2", "Bash", '{"command": "pytest -q tests/test_cart.py"}')),
    tool(ToolResult("2", "Exit code 1\nE   AssertionError: CartError raised", error=True)),
    assistant(
        "`cart_total` rounds each item; it must round the sum. I changed `round_half_even` so."
    ),
    user("Good. Now the same for shop/invoice.py, please."),
)


def test_requests_conclusions_errors_and_names_are_told_with_their_places() -> None:
    text = extract(WORK, (), 400)
    assert "- user asked: Fix the cart total in shop/cart.py." in text
    assert "- tool: E AssertionError: CartError raised #5" in text
    assert "`cart_total` rounds each item; it must round the sum." in text
    assert "Now the same for shop/invoice.py, please. #7" in text
    assert "shop/money.py" in text
    assert "tests/test_cart.py" in text
    assert unfaithful(text, WORK) == []


def test_a_small_budget_keeps_the_newest_request() -> None:
    text = extract(WORK, (), 40)
    assert "shop/invoice.py" in text
    assert estimate(text) <= 40


def test_what_the_ledger_beside_says_is_not_said_again() -> None:
    known = ledger(WORK)
    beside = render(known, 400)
    text = extract(WORK, (), 400, ledger=known, beside=beside)
    assert "Now the same for shop/invoice.py" in beside
    assert "Now the same for shop/invoice.py" not in text
    assert "shop/cart.py" not in text.partition(INDEX)[2]


def test_a_claim_that_is_no_longer_true_is_not_quoted() -> None:
    def run(call: str, output: str, error: bool) -> tuple[Message, Message]:
        asked = assistant(ToolCall(call, "Bash", '{"command": "pytest -q"}'))
        return asked, tool(ToolResult(call, output, error=error))

    entries = log(
        user("Make the tests pass."),
        *run("1", "3 passed", False),
        assistant("All tests pass now. The parser lives in core/parse.py."),
        *run("2", "Exit code 1\n1 failed", True),
    )
    assert "All tests pass" in extract(entries, (), 300)
    text = extract(entries, (), 300, ledger=ledger(entries))
    assert "All tests pass" not in text
    assert "The parser lives in core/parse.py." in text


def test_of_a_line_that_is_contradicted_only_what_is_contradicted_leaves() -> None:
    entries = log(
        user("Make the tests pass."),
        assistant("The parser is in core/parse.py.\n\n```\n```\n\n- All tests pass; ship it."),
        assistant(ToolCall("1", "Bash", '{"command": "pytest -q"}')),
        tool(ToolResult("1", "Exit code 1\n1 failed", error=True)),
    )
    assert "core/parse.py. … - All tests pass; ship it. #2" in extract(entries, (), 300)
    text = extract(entries, (), 300, ledger=ledger(entries))
    assert "- assistant: The parser is in core/parse.py. #2" in text


def test_names_of_one_directory_are_written_once() -> None:
    entries = log(assistant("See src/core/alpha.py, src/core/beta.py and gamma_ray.\n```\n```"))
    beside = "See src/core/alpha.py and so on"
    names = {"src/core/alpha.py": [1], "src/core/beta.py": [1], "gamma_ray": [1]}
    (line,) = listed.lines(names, names)
    assert line == "- gamma_ray, src/core/{alpha.py, beta.py} #1"
    assert listed.read(line) == (1, ["gamma_ray", "src/core/alpha.py", "src/core/beta.py"])
    assert "alpha.py" not in extract(entries, (), 200, beside=beside).partition(INDEX)[2]


def test_few_entries_are_named_for_many_names() -> None:
    places = {"alpha_one": [1, 9], "beta_two": [2, 9], "gamma_three": [3, 9], "delta_four": [4]}
    assert listed.lines(places, places) == [
        "- delta_four #4",
        "- alpha_one, beta_two, gamma_three #9",
    ]


def test_what_is_used_again_and_again_is_listed_before_what_was_printed_once() -> None:
    printed = " ".join(f"noise_number_{n}" for n in range(500))
    entries = log(
        assistant(ToolCall("1", "Bash", '{"command": "ls vendor/often_used"}')),
        tool(ToolResult("1", f"vendor/often_used\n{printed}")),
        assistant(ToolCall("2", "Bash", '{"command": "cat vendor/often_used"}')),
    )
    text = extract(entries, (), 60)
    assert "vendor/often_used" in text
    assert estimate(text) <= 60


def test_programs_between_fences_are_not_quoted() -> None:
    text = extract(
        log(assistant("Here it is:\n```python\nx = 1. # so it is\n```\nDone so.")), (), 99
    )
    assert "x = 1" not in text
    assert "Here it is: … Done so." in text


def test_secrets_are_neither_quoted_nor_listed() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    text = extract(log(user(f"Use the token {key} for it."), user("And go on.")), (), 200)
    assert key not in text
    assert "And go on." in text


@pytest.mark.parametrize("words", [CHINESE, JAPANESE, THAI, PALI])
def test_languages_without_blanks_are_quoted(words: str) -> None:
    entries = log(user(words), assistant(words[::-1]))
    text = extract(entries, (), 200)
    assert words[:12] in text
    assert unfaithful(text, entries) == []
    assert estimate(text) <= 200


def test_names_beside_ideographs_are_found() -> None:
    text = extract(log(tool(ToolResult("1", CHINESE + JAPANESE))), (), 200)
    assert "window_craftlist.rb" in text
    assert "src/auth/login_handler.py" in text


def test_nothing_gives_nothing() -> None:
    assert extract((), (), 100) == ""
    assert extract(log(user("hello there")), (), 0) == ""
    assert extract(log(user("hello there")), (), -5) == ""
    assert extract(log(Message("assistant", ())), ("",), 100) == ""


def test_a_huge_line_is_no_trouble() -> None:
    entries = log(user("A" * 3_000_000), user("Go on with src/main_loop.py then."))
    text = extract(entries, (), 100)
    assert "Go on with src/main_loop.py then. #2" in text
    assert unfaithful(text, entries) == []


def test_lone_surrogates_are_words_too() -> None:
    entries = log(user("a broken \ud800 sign in sign_reader.py"))
    assert "\ud800 sign" in extract(entries, (), 100)


def test_a_cut_never_halves_a_word() -> None:
    words = "word " * 46 + "src/some/long/path_to_a_file.py and more"
    assert cut(words) == "word " * 45 + "word …"


def test_a_list_is_not_parted_from_its_numbers_nor_code_from_its_marks() -> None:
    said = "1. First this. 2. Then `a. b` so.\nAnd\nthen that."
    assert sentences(said) == [(0, "1. First this."), (3, "And"), (4, "then that.")]


def test_a_summary_made_elsewhere_is_quoted_as_one() -> None:
    entries = log(Message("user", (SummaryText("The parser was moved to core/parse.py."),)))
    assert "- summary: The parser was moved to core/parse.py. #1" in extract(entries, (), 100)


def test_scaffolding_is_not_quoted() -> None:
    entries = log(Message("user", (Text("Be brief.", scaffold="system-reminder"),)))
    assert "Be brief" not in extract(entries, (), 100)


def test_run_on_its_own_output_it_changes_nothing() -> None:
    for budget in (60, 120, 400):
        once = extract(WORK, (), budget)
        assert extract((), (once,), budget) == once


def test_told_again_with_more_said_since_it_has_no_line_and_no_heading_twice() -> None:
    text = ""
    for turn in range(12):
        more = log(
            user(f"Now do step number {turn} in steps/step_{turn}.py."),
            assistant(f"Step {turn} is done in steps/step_{turn}.py, as common_rule says."),
            first=1 + 2 * turn,
        )
        text = extract(more, (text,) if text else (), 300)
        assert estimate(text) <= 300
        assert text.count(HEADING) == 1
        assert text.count(INDEX) <= 1
        lines = text.splitlines()
        assert len(set(lines)) == len(lines)
    assert "- user asked: Now do step number 11" in text
    assert "common_rule" in text
    assert "#1\n" in text or "#2\n" in text  # the beginning is not forgotten


def test_the_same_stretch_with_its_own_summary_before_it_is_told_once() -> None:
    once = extract(WORK, (), 400)
    again = extract(WORK, (once,), 400)
    assert again.count("Never touch the schema.") == 1
    assert unfaithful(again, WORK) == []


def test_lines_of_a_summary_that_somebody_else_wrote_are_carried_as_they_are() -> None:
    theirs = "## State\nThe user wants speed.\n- core/parse.py is half done\n\n- [ ] tests"
    text = extract(WORK, (theirs,), 400)
    assert theirs.replace("\n\n", "\n") in text
    again = extract(log(user("Go on with it."), first=8), (text,), 400)
    assert "The user wants speed." in again
    assert again.count(HEADING) == 1


def test_a_name_known_only_from_somebody_elses_words_is_not_said_to_stand_in_an_entry() -> None:
    theirs = "The parser moved to core/parse_all.py. " * 40
    text = extract(log(user("Go on with it."), first=90), (theirs,), 60)
    assert "core/parse_all.py" not in text.partition(INDEX)[2]


def test_a_long_paragraph_of_somebody_elses_is_carried_in_part() -> None:
    theirs = " ".join(f"Step {n} of the plan was done by the team." for n in range(100))
    text = extract(log(user("Go on with it."), first=90), (theirs,), 300)
    assert "Step 10 of the plan was done by the team." in text
    assert estimate(text) <= 300


def test_fields_of_a_tool_are_no_names() -> None:
    given = '{"file_path": "core/parse_all.py", "edits": [{"old_string": "a_b_c_d_e"}, 7, null]}'
    text = extract(log(assistant(ToolCall("1", "Edit", given))), (), 100)
    assert "core/parse_all.py" in text
    assert "a_b_c_d_e" in text
    assert "file_path" not in text


def test_patterns_and_words_cut_by_others_are_no_names() -> None:
    words = r"phases/14-* -home/some_dir/x.py ...26-lazy_file.md src\new_thing.py $HOME/x_y_z- "
    words += r"D:\\src\\whole_file.py"
    text = extract(log(tool(ToolResult("1", words))), (), 100)
    assert listed.read(text.splitlines()[-1]) == (1, ["whole_file.py"])


def test_it_is_the_same_whatever_the_hashes_are() -> None:
    program = "from tests.core.test_extract import WORK, extract; print(extract(WORK, (), 200))"
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


texts = st.text(max_size=300) | st.sampled_from(
    [
        CHINESE,
        JAPANESE,
        THAI,
        "See src/core/fold.py: `fold_all` fails. Why?",
        "ok",
        "a/b c_d\u2028e",
    ]
)
bodies = st.one_of(
    texts.map(user),
    texts.map(assistant),
    st.builds(lambda text, error: tool(ToolResult("1", text, error=error)), texts, st.booleans()),
    texts.map(lambda text: assistant(text, ToolCall("1", "Bash", f'{{"command": "{text[:20]}"}}'))),
)


@given(st.lists(bodies, max_size=12), st.integers(-3, 400), st.lists(texts, max_size=2))
def test_it_is_never_over_its_budget_and_always_the_same(
    said: list[Message], budget: int, earlier: list[str]
) -> None:
    entries = log(*said)
    text = extract(entries, earlier, budget)
    assert estimate(text) <= max(budget, 0)
    assert extract(entries, earlier, budget) == text


@given(st.lists(bodies, max_size=12), st.integers(30, 400))
def test_every_piece_stands_in_the_entry_it_names(said: list[Message], budget: int) -> None:
    entries = log(*said)
    assert unfaithful(extract(entries, (), budget), entries) == []


@given(st.lists(bodies, max_size=10), st.lists(bodies, max_size=10), st.integers(30, 400))
def test_what_is_carried_on_still_stands_where_it_says(
    first: list[Message], then: list[Message], budget: int
) -> None:
    early = log(*first)
    late = log(*then, first=len(early) + 1)
    once = extract(early, (), budget)
    twice = extract(late, (once,) if once else (), budget)
    assert unfaithful(twice, [*early, *late]) == []
    assert estimate(twice) <= budget
    assert extract((), (twice,), budget) == twice


@pytest.mark.parametrize(
    "planted",
    [
        f"{HEADING}\n- user asked: Fix the cart totals #1",
        f"{HEADING}\n- user asked: Fix the cart total #2",
        f"{INDEX}\n- shop/{{cart.py, carts.py}} #2",
        "Some words of its own.",
    ],
)
def test_a_planted_untruth_is_caught(planted: str) -> None:
    assert unfaithful(planted, WORK)


def test_what_is_dwelt_on_is_quoted_first() -> None:
    remarks = [
        assistant(f"Step {n} of the parser rewrite is done. Nothing else.") for n in range(40)
    ]
    asked = log(user("Rewrite it."), *remarks[:20], assistant("The migration drops zip."), *remarks)
    without, dwelt = extract(asked, [], 90), extract(asked, [], 90, focus="Keep each MIGRATION.")
    assert "The migration drops zip." not in without
    assert "The migration drops zip." in dwelt
    assert estimate(dwelt) <= 90
