"""A parser that takes too long, or dies, costs one file and nothing else."""

import os
import signal

from holdfast.core.repo_map import Tags
from holdfast.repomap.parse import tags
from holdfast.repomap.worker import Parsing

SOURCE = b"def wanted(): ...\n"
ENDLESS = b"((" * (256 * 1024)
"""A C parser is busy with this for minutes."""


def test_it_answers_as_the_parser_itself_does() -> None:
    parsing = Parsing()
    try:
        assert parsing("python", SOURCE) == tags("python", SOURCE)
        assert parsing("c", b"int a(void) { return b(); }").references == {"b": 1}
        assert parsing("python", b"") == Tags()
    finally:
        parsing.close()


def test_a_file_that_takes_too_long_has_no_tags_and_the_next_one_has_its_own() -> None:
    parsing = Parsing(seconds=1.5)
    try:
        assert parsing("c", ENDLESS) == Tags()
        slow = Parsing()
        assert slow("python", SOURCE) == tags("python", SOURCE)
        slow.close()
    finally:
        parsing.close()


def test_a_process_that_dies_is_replaced() -> None:
    parsing = Parsing()
    try:
        assert parsing("python", SOURCE).definitions
        child = parsing._child
        assert child is not None
        os.kill(child.process.pid, signal.SIGKILL)
        assert parsing("python", SOURCE) == Tags()
        assert parsing("python", SOURCE).definitions
        assert parsing("no such language", SOURCE) == Tags()
        assert parsing("python", SOURCE).definitions
    finally:
        parsing.close()
