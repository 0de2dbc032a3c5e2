"""Every block of every page does what the page says."""

from pathlib import Path

import pytest

from tests.docs.pages import MISNAMED, ROOT, blocks, commands, concealed, pages, targets
from tests.docs.running import run_page

PAGES = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@PAGES
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    run_page(blocks(page), tmp_path / "page")


@PAGES
def test_no_block_slips_past_the_rules(page: Path) -> None:
    for block in blocks(page):
        assert block.language not in MISNAMED, f"{block.place}: say python, console or sh"
        assert block.remark != "not run" or block.reason, f"{block.place}: not run, but why?"
        if block.language in {"console", "sh"}:
            assert commands(block), f"{block.place}: no line to run; console lines begin with '$ '"


@PAGES
def test_no_example_needs_what_a_comment_conceals(page: Path) -> None:
    assert not concealed(page)


@PAGES
def test_make_lines_name_targets_that_exist(page: Path) -> None:
    for block in blocks(page):
        if block.language in {"console", "sh"}:
            for command in commands(block):
                missing = set(command.targets) - targets()
                assert not missing, f"{page.name}:{command.line}: no such target: {missing}"
