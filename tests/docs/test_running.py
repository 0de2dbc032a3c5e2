"""The rules of pages.py hold: what should fail fails, and what should be shared is shared."""

from pathlib import Path

import pytest

from tests.docs.pages import blocks, commands, concealed
from tests.docs.running import Failed, alike, run_page


def run(folder: Path, text: str) -> None:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    run_page(blocks(page), folder / "run")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("text\n\n```python\n1 / 0\n```\n", 'page.md", line 4'),
        ("```console\n$ true\n$ false\n```\n", r"page.md:3: \$ false\nended with 1"),
        ("```sh\nfalse\n```\n", "ended with 1"),
        ("```console\n$ echo one\ntwo\n```\n", "did not print: two"),
        ("```console\n$ exit 0\n$ echo more\n```\n", "the shell stopped early"),
        ("```python\nx = 1\n```\n<!-- fresh -->\n```python\nx\n```\n", "NameError"),
        ("```python\nx = 1\n```\n```console\n$ true\n```\n```python\nx\n```\n", "NameError"),
        ("```python\nimport warnings; warnings.warn('old')\n```\n", "UserWarning: old"),
    ],
)
def test_a_planted_fault_is_caught(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(Failed, match=reason):
        run(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nx = 1\n```\nprose\n```python\nassert x == 1\n```\n",
        "```python\nopen('f', 'w').write('hi')\n```\n```console\n$ cat f\nhi\n```\n",
        "```console\n$ export A=1\n$ echo $A\n1\n```\n",
        "```console\n$ echo one \\\n    two\none two\n```\n",
        "```console\n$ echo prt_01J 12 tokens\nprt_… 12 tokens\n```\n",
        "```sh\ntest ${HOLDFAST_STORE#$HOME} != $HOLDFAST_STORE\n```\n",
        "```console\n$ make nothing\n$ make\n```\n",
        "<!-- not run: it would fail -->\n```python\n1 / 0\n```\n",
        "```text\n$ false\n```\n",
    ],
)
def test_what_works_passes(tmp_path: Path, text: str) -> None:
    run(tmp_path, text)


def test_a_block_that_never_ends_is_caught(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="never closed"):
        run(tmp_path, "```python\nx = 1\n")


def test_a_remark_keeps_its_reason(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: needs a key -->\n```python\n```\n<!-- not run -->\n```sh\nx\n```\n"
    )
    assert [(block.remark, block.reason) for block in blocks(page)] == [
        ("not run", "needs a key"),
        ("not run", ""),
    ]


def test_a_block_in_a_comment_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n<!-- so\n```python\nx = 1\n```\n-->\n<!-- fresh -->\n```sh\nx\n```\n")
    assert concealed(page) == [2]


def test_targets_are_read_from_make_lines(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nmake run test WORKERS=1 -s  # now\nmaker\n```\n")
    assert [command.targets for command in commands(blocks(page)[0])] == [["run", "test"], []]


def test_an_ellipsis_stands_for_anything_and_spacing_does_not_matter() -> None:
    assert alike("a … c", "a   b c")
    assert alike("  a  b", "a b")
    assert not alike("a … c", "a b d")
