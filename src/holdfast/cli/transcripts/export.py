"""`holdfast export`: a session in another form, to a file or to whoever reads the output."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.model.portable import Fidelity

FORMATS = (
    "portable", "markdown", "html", "claude-code", "codex", "anthropic", "openai-responses",
    "openai-chat",
)  # fmt: skip


@click.command()
@session_argument
@click.option("--to", "format", type=click.Choice(FORMATS), default="portable",
              show_default=True, help="The form it is to have.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", default="", help="Write it there, for you alone.")
@click.option("-m", "--model", metavar="MODEL", shell_complete=completions.models, default="",
              help="For this model, where a window is written.")  # fmt: skip
@click.option("--raw", is_flag=True, help="Secrets too: they are masked otherwise.")
@click.option("--boundaries", is_flag=True,
              help="With portable: each compaction on a line of its own, too.")  # fmt: skip
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the portable form.")
@common
def export(
    asked: Asked, session: str, format: str, output: str, model: str, raw: bool,
    boundaries: bool, schema: bool,
) -> None:  # fmt: skip
    """Write a session in another form.

    portable is everything, and can be imported again; markdown and html are for reading;
    claude-code and codex are files those programs resume; the others are the request that would be
    sent now. At the end it says what was carried and what was not.
    """
    from holdfast.engine.bridge import drive, drive_all
    from holdfast.engine.exporting.export import Exporting
    from holdfast.errors import InvalidRequest

    if schema:
        _show_schema()
        return
    if asked.json and not output:
        raise InvalidRequest("--json tells of the file that was written; say -o FILE")
    with asked.open() as hf:
        opened = drive(hf.engine.session(find(hf, session).id))
        exporting = Exporting(
            opened, opened.turns, format, model=model, raw=raw, boundaries=boundaries
        )
        written(drive_all(exporting.chunks()), output)
    tell(asked, format, output, exporting.fidelity)


def _show_schema() -> None:
    import json

    from holdfast.exporters.portable import schema

    click.echo(json.dumps(schema(), indent=2))


def written(chunks: Iterable[bytes], output: str) -> None:
    """Write an export: to a private file, all of it or nothing, or to the output."""
    if output:
        from holdfast.engine.exporting.output_path import placing
        from holdfast.files import write_atomic

        with placing(output):
            write_atomic(output, chunks)
    elif sys.stdout.isatty():
        from holdfast.cli.ui.terminal import neutral

        click.echo(neutral(b"".join(chunks).decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.writelines(chunks)


def tell(asked: Asked, format: str, output: str, fidelity: Fidelity) -> None:
    """What was carried and what was not, beside the output."""
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.exporters.fidelity import in_lines

    if asked.json:
        emit(
            {
                "file": output,
                "format": format,
                "carried": fidelity.carried,
                "not_carried": fidelity.not_carried,
            }
        )
        return
    for line in in_lines(fidelity):
        say(line, "dim", error=True)
