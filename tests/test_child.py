"""A process of our own ends, also where nobody is left to end it."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import holdfast

ALONE = """
import re
from holdfast.child_process import limits
limits(1)
re.search("(a+)+$", "a" * 60 + "!")
"""


def test_it_ends_itself_whatever_it_is_busy_with() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], timeout=60, check=False)
    assert done.returncode == -signal.SIGALRM


ECHO = (
    "import sys; from holdfast.child_process import framed; "
    "sys.stdout.buffer.write(framed(b'here'))"
)
ELSEWHERE = """
import sys, time
sys.path.insert(0, sys.argv[1])
from holdfast.child_process import Child
child = Child("holdfast.echo")
print(bytes(child.answer(time.monotonic() + 30)))
child.close()
"""


def test_it_is_the_package_that_we_are(tmp_path: Path) -> None:
    """However we were found: a program may have put us on its path itself."""
    shutil.copytree(Path(str(holdfast.__file__)).parent, tmp_path / "holdfast")
    (tmp_path / "holdfast" / "echo.py").write_text(ECHO)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = [sys.executable, "-P", "-c", ELSEWHERE, str(tmp_path)]
    done = subprocess.run(told, env=env, capture_output=True, timeout=60, check=False)
    assert done.stdout == b"b'here'\n", done.stderr
