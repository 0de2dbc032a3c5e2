"""`holdfast doctor`: is everything as it should be, and mending what is not."""

from __future__ import annotations

import click

from holdfast.cli.options import Asked, common


@click.command()
@common
def doctor(asked: Asked) -> int:
    """Examine a store."""
    return 0
