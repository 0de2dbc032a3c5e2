"""A process of our own ends, also where nobody is left to end it."""

import signal
import subprocess
import sys

ALONE = """
import re
from holdfast.child import limits
limits(1)
re.search("(a+)+$", "a" * 60 + "!")
"""


def test_it_ends_itself_whatever_it_is_busy_with() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], timeout=60, check=False)
    assert done.returncode == -signal.SIGALRM
