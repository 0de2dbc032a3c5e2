"""Running notes: cut without losing what matters, and known under another's headings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.compaction.notes import (
    TEMPLATE,
    adopted,
    empty,
    is_sound,
    overlong,
    sections,
    shortened,
)
from holdfast.core.tokens.estimate import estimate
from holdfast.model.policy import Notes as Rule

CLAUDE = """
# Session Title
_A short title for the session_

Parser for dates

# Current State
_What is being worked on right now?_

Half of the parser is written; next is `parse_week`.

# Task specification
_What was asked?_

# Files and Functions
_Which files?_

- src/dates.py: parse_day

# Workflow
_Which commands?_

```bash
# run the tests first
pytest -q
```

# Errors & Corrections
_What went wrong?_

The user wants ISO weeks, not US weeks.

# Codebase and System Documentation
_How it fits together_

# Learnings
_What worked?_

# Key results
_What was asked for, in full_

# Worklog
_Step by step_

- wrote parse_day
"""
"""Notes under the headings that Claude Code gives its own."""


def noted(**bodies: str) -> str:
    """Notes of ours with something in some sections, named by their first word."""
    return "\n\n".join(
        f"# {title}\n_{about}_\n{bodies.get(title.split()[0], '')}".rstrip()
        for title, about in TEMPLATE
    )


def body(text: str, title: str) -> str:
    return next(body for name, _, body in sections(text) if name == title)


@pytest.mark.seed("004", 185)
def test_a_section_written_as_one_long_line_is_cut_inside_the_line() -> None:
    long = "the parser is half done and " * 500
    made = shortened(noted(Current=long, Worklog=long), Rule())
    for title in ("Current state", "Worklog"):
        kept = body(made, title)
        assert kept.startswith("the parser is half done")
        assert 1_500 < estimate(kept) <= 2_000
        assert kept.endswith("[… the rest was left out]")


@pytest.mark.seed("004", 186, 187)
def test_the_current_state_and_the_errors_are_the_last_to_go() -> None:
    long = "a word or two of it " * 300  # each section within its own limit
    names = [title.split()[0] for title, _ in TEMPLATE]
    made = shortened(noted(**dict.fromkeys(names, long)), Rule())
    assert sum(estimate(body) for _, _, body in sections(made)) <= 12_000
    whole = [title for title, _, text in sections(made) if "left out" not in text]
    assert whole == ["Current state", "Errors and corrections"]


def test_notes_that_are_too_long_are_told_so_section_by_section_and_in_all() -> None:
    rule = Rule()
    long = "a word or two of it " * 300
    names = [title.split()[0] for title, _ in TEMPLATE]
    told = overlong(noted(**dict.fromkeys(names, long)), rule)
    assert "12,000" in told
    assert "Current state" in told
    assert "of 2,000" not in told
    told = overlong(noted(Worklog=long * 2), rule)
    assert "Worklog" in told
    assert "of 2,000" in told
    assert "12,000" not in told
    assert overlong(noted(Worklog="short"), rule) == ""


@pytest.mark.seed("003", 10)
@pytest.mark.seed("004", 183)
def test_the_headings_of_claude_code_are_known() -> None:
    made = adopted(CLAUDE)
    assert is_sound(made)
    assert "parse_week" in body(made, "Current state")
    assert "ISO weeks" in body(made, "Errors and corrections")
    assert "# run the tests first" in body(made, "Workflow")
    assert body(made, "Learnings") == ""
    assert adopted(made) == made


@pytest.mark.seed("004", 196)
def test_an_empty_template_of_either_kind_is_no_notes() -> None:
    lines = CLAUDE.splitlines()
    bare = "\n".join(line for line in lines if line.startswith(("# ", "_")))
    bare = bare.replace("# run the tests first\n", "")
    assert not is_sound(adopted(bare))
    assert not is_sound(adopted(empty()))


def test_a_section_of_somebody_elses_own_is_kept_where_it_stood() -> None:
    made = adopted(CLAUDE.replace("# Learnings", "# House rules\nTabs only.\n\n# Learnings"))
    assert is_sound(made)
    assert "Tabs only." in body(made, "Codebase and system documentation")


@pytest.mark.seed("004", 197)
def test_other_text_is_left_as_it_is() -> None:
    for text in ("", "Just prose.", "# Plan\n_x_\ny\n# Next\n_z_\n"):
        assert adopted(text) == text


words = st.text(st.characters(codec="utf-8", exclude_characters="#\r\x0b\x0c\x1c\x1d\x1e\x85"))
lines = st.lists(words | st.sampled_from(["word " * 400, "語" * 900, "x" * 3_000]), max_size=4)


@given(st.lists(lines.map("\n".join), min_size=10, max_size=10))
def test_whatever_was_noted_fits_and_no_section_that_said_something_is_wiped(
    bodies: list[str],
) -> None:
    rule = Rule(section=200, most=700)
    text = noted(**{t.split()[0]: told for (t, _), told in zip(TEMPLATE, bodies, strict=True)})
    made = shortened(text, rule)
    before, after = sections(text), sections(made)
    assert [one[:2] for one in after] == [one[:2] for one in before]
    assert sum(estimate(body) for _, _, body in after) <= rule.most
    for (_, _, told), (_, _, kept) in zip(before, after, strict=True):
        assert estimate(kept) <= max(rule.section, 1)
        first = kept.removesuffix("[… the rest was left out]").strip()
        assert told == kept or (first and told.lstrip().startswith(first[:20].lstrip()))
    assert shortened(made, rule) == made
