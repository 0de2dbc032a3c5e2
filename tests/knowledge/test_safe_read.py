"""A file that somebody else wrote is read confined, bounded, and with nothing hidden."""

import hashlib
import os
from pathlib import Path

import pytest

from holdfast.engine.knowledge.safe_read import inside, read_text
from holdfast.errors import Unsafe
from holdfast.files import Root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def test_a_text_has_its_digest_and_nothing_hidden(project: Path) -> None:
    data = "be kind\U000e0041\u200b\n".encode()
    (project / "AGENTS.md").write_bytes(data)
    found = read_text(Root(project), "AGENTS.md")
    assert found.text == "be kind[U+200B]\n"
    assert found.digest == hashlib.sha256(data).hexdigest()
    assert [one.name for one in found.hidden] == ["U+E0041", "U+200B"]


def test_a_link_that_stays_inside_is_followed_to_where_it_leads(project: Path) -> None:
    (project / "AGENTS.md").write_text("x")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert read_text(Root(project), "CLAUDE.md").path == "AGENTS.md"


@pytest.mark.parametrize("leads", ["../secret", "/etc/passwd", "up/../../secret", "../project2/x"])
def test_what_leads_out_is_not_opened(project: Path, leads: str) -> None:
    (project.parent / "secret").write_text("secret")
    (project.parent / "project2").mkdir()
    (project / "up").mkdir()
    (project / "link").symlink_to(leads)
    for path in ("link", leads):
        with pytest.raises(Unsafe, match="leads out of"):
            read_text(Root(project), path)


def test_a_link_in_a_circle_a_fifo_and_a_directory_are_no_texts(project: Path) -> None:
    (project / "circle").symlink_to("circle")
    os.mkfifo(project / "fifo")
    (project / "directory").mkdir()
    for path in ("circle", "fifo", "directory"):
        with pytest.raises(Unsafe):
            read_text(Root(project), path)


def test_a_file_that_is_too_large_or_no_text_says_so(project: Path) -> None:
    (project / "large").write_bytes(b"x" * 11)
    (project / "binary").write_bytes(b"a\0b")
    with pytest.raises(Unsafe, match="exceeds 10 bytes"):
        read_text(Root(project), "large", 10)
    with pytest.raises(Unsafe, match="is no text"):
        read_text(Root(project), "binary")


def test_a_path_within_is_told_relative_to_the_root(project: Path) -> None:
    (project / "a").mkdir()
    assert inside(Root(project), "a/../a/x.md") == "a/x.md"
    assert inside(Root(project), str(project / "y.md")) == "y.md"
