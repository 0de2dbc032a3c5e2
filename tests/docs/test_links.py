"""The README leads to every page, and no page links to one that is not there."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages


def links(page: Path) -> list[str]:
    """What a page links to inside the repository."""
    found = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link).resolve() for link in links(ROOT / "README.md")}
    assert [page for page in (ROOT / "docs").glob("*.md") if page.resolve() not in linked] == []
    assert (ROOT / "docs" / "decisions").resolve() in linked
