"""`python -m holdfast.cli` is `holdfast`."""

from __future__ import annotations

from holdfast.cli import main

if __name__ == "__main__":
    main(prog_name="holdfast")
