"""The section of an instruction file that says how to compact: found, and never more than that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.compaction.focus_section import compact_instructions

LONGEST = 4_000
"""What is promised, in numbers: these tests stand at its edges."""

FILE = """\
# The project

Use tabs.

## Compact instructions

Keep the names of failing tests.

### More

Also the ports.

## Style

No semicolons.
"""


def test_the_section_goes_on_to_the_next_heading_as_high() -> None:
    told = compact_instructions(FILE)
    assert told == "Keep the names of failing tests.\n\n### More\n\nAlso the ports."


@pytest.mark.parametrize(
    "heading",
    ["# Compact Instructions", "###### compact instructions ##", "  # COMPACT  INSTRUCTIONS:",
     "# Compaction instructions"],
)  # fmt: skip
def test_its_heading_may_be_written_in_many_ways(heading: str) -> None:
    assert compact_instructions(f"{heading}\nkeep it\n# Next\nnot this") == "keep it"


@pytest.mark.parametrize(
    "text",
    ["", "Compact instructions\nnot a heading", "#Compact instructions\nno blank",
     "# How to compact instructions\nanother", "    # Compact instructions\ncode",
     "```\n# Compact instructions\n```\nin a fence", "# Compact instructions"],
)  # fmt: skip
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert compact_instructions(text) == ""


def test_a_heading_inside_a_fence_does_not_end_it() -> None:
    text = "# Compact instructions\n````sh\n# a comment\n```\n````\nmore\n# End\nno"
    assert compact_instructions(text) == "````sh\n# a comment\n```\n````\nmore"


@given(st.text(alphabet="# \n`~aCompact instructions", max_size=400))
def test_it_is_bounded_and_part_of_the_file_whatever_the_file_is(text: str) -> None:
    told = compact_instructions(text)
    assert len(told) <= LONGEST
    assert set(told.splitlines()) <= set(text.splitlines()) | {told.splitlines()[0] if told else ""}
    assert len(compact_instructions(f"# Compact instructions\n{'x' * 9_000}")) == LONGEST
