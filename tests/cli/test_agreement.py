"""Every command, the library and the chat give one number of ten recorded sessions."""

import shutil

import pytest

from tools import agreement

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not agreement.DATA.is_dir(), reason="the recorded data is not here"),
    pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed"),
]


def test_the_table_of_numbers_that_agree_is_as_it_is_found_now() -> None:
    made = agreement.page()
    rows = [line for line in made.splitlines() if line.endswith((" yes |", "} |"))]
    assert len(rows) == len(agreement.FILES)
    for row in rows:
        assert f"| all {len(agreement.PLACES)} |" in row
        assert row.endswith("| yes |")
    assert made == agreement.PAGE.read_text("utf-8"), "write it anew: python -m tools.agreement"
