"""A lease that a killed process took with it is free at once; that of a living one is not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.compaction.lease import Lease, holder, is_gone, is_held

CHILD = """
import sys, time
import holdfast
from holdfast.engine.compaction.lease import Lease
from holdfast.engine.bridge import drive

hf = holdfast.open(sys.argv[1])
assert drive(Lease.begin(hf.session(sys.argv[2])._inner, "summary", 600))
print("held", flush=True)
time.sleep(60)
"""


def test_whoever_was_killed_holds_nothing(tmp_path: Path) -> None:
    store = str(tmp_path / "log.db")
    with holdfast.open(store) as hf:
        s = hf.session(model="gpt-4o")._inner  # type: ignore[reportPrivateUsage]
        with subprocess.Popen(
            [sys.executable, "-c", CHILD, store, s.id], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout
            assert child.stdout.readline() == "held\n"
            assert drive(is_held(s, "summary"))
            assert drive(Lease.begin(s, "summary", 600)) is None
            child.send_signal(signal.SIGKILL)
        assert not drive(is_held(s, "summary"))
        taken = drive(Lease.begin(s, "summary", 600))
        assert taken
        assert drive(Lease.begin(s, "summary", 600)) is None  # and now it is held by us


def test_only_what_is_surely_gone_is_said_to_be() -> None:
    own = holder("01M7")
    id, here, _, began = own.split(" ")
    assert not is_gone(own)
    assert not is_gone("01M7")  # as names were before
    assert not is_gone(f"{id} another-machine 999999 1")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(f"{id} {here} {ended.pid} 1")
    if began != "-":
        assert is_gone(f"{id} {here} {os.getpid()} 1")  # the number is another's by now
