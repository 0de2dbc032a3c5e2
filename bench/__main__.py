"""`python -m bench` and the name of a benchmark: measure, print, write the page."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from bench import page
from bench.machine import Machine, busy
from bench.progress import bars

QUICK = {"rounds": 15, "budget": 5.0, "cold": 3}
"""What a short run changes; it prints its numbers and leaves the page alone."""


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Benchmarks, side by side with others. Without a name: all of them, in their long form."""
    if context.invoked_subcommand is None:
        context.invoke(store)
        context.invoke(window)
        context.invoke(counting)
        context.invoke(huge)
        context.invoke(extract)
        context.invoke(economy)
        context.invoke(ladder)
        context.invoke(ledger)
        context.invoke(startup)
        context.invoke(search)
        context.invoke(importing)
        context.invoke(recall)
        context.invoke(workspace)


@main.command()
@click.option("--sizes", help="Lengths of the session in messages, such as 100,1000.")
@click.option("--quick", is_flag=True, help="A short run that leaves the page alone.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where files are made meanwhile.")
def store(sizes: str | None = None, quick: bool = False, scratch: Path | None = None) -> None:
    """A durable turn, the file's size and opening a session, against seven others."""
    from bench import store as bench
    from bench import store_report as report

    plan = replace(bench.Plan(), **QUICK) if quick else bench.Plan()
    if sizes:
        plan = replace(plan, sizes=tuple(int(size) for size in sizes.split(",")))
    with bars() as stage:
        result = bench.measure(plan, scratch, stage)
    report.show(result)
    page.save("store-quick" if quick else "store", result)
    if _quiet(result.machine) and not quick and plan.sizes == bench.SIZES:
        report.publish(result)


@main.command()
@click.option("--quick", is_flag=True, help="A short run with 2,000 files.")
def workspace(quick: bool = False) -> None:
    """The scans around a shell command and the baseline before it, beside `git status`."""
    from bench import workspace as bench

    result = bench.measure(2_000, 3) if quick else bench.measure()
    bench.show(result)
    page.save("workspace-quick" if quick else "workspace", result)


@main.command()
@click.option("--quick", is_flag=True, help="A short run that leaves the page alone.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where files are made meanwhile.")
def window(quick: bool = False, scratch: Path | None = None) -> None:
    """Preparing a turn from a long history, against trimming with other libraries."""
    from bench import window as bench
    from bench import window_report as report

    plan = replace(bench.Plan(), rounds=15, budget=5.0) if quick else bench.Plan()
    with bars() as stage:
        result = bench.measure(plan, scratch, stage)
    report.show(result)
    page.save("window-quick" if quick else "window", result)
    if not quick and _quiet(result.machine):
        report.publish(result)


@main.command()
@click.option("--quick", is_flag=True, help="A short run that leaves the page alone.")
def counting(quick: bool = False) -> None:
    """Exact counts and estimates, against tiktoken."""
    from bench import counting as bench

    plan = replace(bench.Plan(), rounds=5, pieces=20) if quick else bench.Plan()
    with bars() as stage:
        result = bench.measure(plan, stage)
    bench.show(result)
    page.save("counting-quick" if quick else "counting", result)
    if not quick and _quiet(result.machine):
        page.write("counting", bench.section(result))


def _quiet(machine: Machine) -> bool:
    """Whether the numbers may go to the page; said where they may not."""
    if busy(machine):
        click.echo("The machine was busy: ratios are worth nothing, and the page is left alone.")
    return not busy(machine)


@main.command()
@click.option("--size", default=2048, help="Of the session's text, in MB.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where files are made meanwhile.")
def huge(size: int = 2048, scratch: Path | None = None) -> None:
    """How much memory it takes to open and read a session of 2 GB."""
    from bench import huge as bench

    with bars() as stage:
        result = bench.measure(size * 1_000_000, scratch, stage)
    bench.table(result).show("Memory")
    page.save("huge", result)
    if size >= 2048:
        page.write("huge", bench.section(result))


@main.command()
@click.option("--quick", is_flag=True, help="A few cuts of each transcript; leaves the page alone.")
def extract(quick: bool = False) -> None:
    """What a summary without a model keeps of the names that come again, against shedding."""
    from bench import extract as bench
    from bench import extract_report as report

    with bars() as stage:
        result = bench.measure(stage, most=3) if quick else bench.measure(stage)
    report.show(result)
    page.save("extract-quick" if quick else "extract", result)
    if not quick:
        report.publish(result)


@main.command()
@click.option("--quick", is_flag=True, help="Four transcripts only; leaves the page alone.")
def economy(quick: bool = False) -> None:
    """What every policy costs, and what it keeps of what later turns use."""
    from bench import economy as bench
    from bench import economy_report as report

    with bars() as stage:
        brief = {"every": bench.BRIEFLY, "only": bench.FEW}
        result = bench.measure(stage, **brief) if quick else bench.measure(stage)
    report.show(result)
    page.save("economy-quick" if quick else "economy", result)
    if not quick:
        report.publish(result)


@main.command()
@click.option("--quick", is_flag=True, help="Smaller windows only; leaves the page alone.")
def ladder(quick: bool = False) -> None:
    """How much CPU time planning a compaction takes, over the window and over the log."""
    from bench import ladder as bench

    windows = bench.WINDOWS[:2] if quick else bench.WINDOWS
    with bars() as stage:
        result = bench.measure(stage, windows)
    bench.show(result)
    page.save("ladder-quick" if quick else "ladder", result)
    if not quick:
        page.write("ladder", bench.section(result))


@main.command()
@click.option("--quick", is_flag=True, help="Up to 25,000 entries; leaves the page alone.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where files are made meanwhile.")
def ledger(quick: bool = False, scratch: Path | None = None) -> None:
    """What the facts of a session cost from a thousand entries to a million."""
    from bench import ledger as bench

    with bars() as stage:
        result = bench.measure(stage, bench.SIZES[:3] if quick else bench.SIZES, scratch)
    bench.show(result)
    page.save("ledger-quick" if quick else "ledger", result)
    if not quick:
        page.write("ledger", bench.section(result))


@main.command()
@click.option("--quick", is_flag=True, help="A few rounds; leaves the page alone.")
def startup(quick: bool = False) -> None:
    """How long `import holdfast` and the first prompt of the chat take, in new processes."""
    from bench import startup as bench

    with bars() as stage:
        result = bench.measure(3 if quick else bench.ROUNDS, stage)
    bench.show(result)
    page.save("startup-quick" if quick else "startup", result)
    if not quick and _quiet(result.machine):
        page.write("startup", bench.section(result))


@main.command()
@click.option("--quick", is_flag=True, help="A twentieth of the parts; leaves the page alone.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where the parts are kept.")
def search(quick: bool = False, scratch: Path | None = None) -> None:
    """Finding words among a million parts, against ripgrep over the same text."""
    from bench import search as bench

    with bars() as stage:
        parts = bench.PARTS // 20 if quick else bench.PARTS
        result = bench.measure(parts, 15 if quick else bench.ROUNDS, scratch, stage)
    bench.show(result)
    page.save("search-quick" if quick else "search", result)
    if not quick and _quiet(result.machine):
        bench.publish(result)


@main.command("import")
@click.option("--quick", is_flag=True, help="A tenth of the transcripts; leaves the page alone.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where the transcripts are kept.")
def importing(quick: bool = False, scratch: Path | None = None) -> None:
    """Importing 100 MB of transcripts, against a bare loop that writes the same rows."""
    from bench import importing as bench

    with bars() as stage:
        size = bench.SIZE // 10 if quick else bench.SIZE
        result = bench.measure(size, 3 if quick else bench.ROUNDS, scratch, stage)
    bench.show(result)
    page.save("import-quick" if quick else "import", result)
    if not quick and _quiet(result.machine):
        bench.publish(result)


@main.command()
@click.option("--quick", is_flag=True, help="Every tenth question; leaves the page alone.")
@click.option("--file", type=click.Path(path_type=Path, exists=True),
              help="Questions in LoCoMo's layout; leaves the page alone.")  # fmt: skip
@click.option("--half", type=click.Choice(["chosen", "reported", "all"]), default="reported",
              help="Which half of the questions.")  # fmt: skip
def recall(quick: bool = False, file: Path | None = None, half: str = "reported") -> None:
    """How well what was said is found again: by words, by meaning, by both."""
    from bench import recall as bench

    number = {"chosen": 0, "reported": 1, "all": None}[half]
    with bars() as stage:
        result = bench.measure(stage, 10 if quick else 1, file, number)
    asked = result.questions[bench.ALL]
    bench.table(result).show(f"{result.name}: {asked} questions, {result.messages:,} messages")
    whole = not quick and file is None and half == "reported"
    page.save("recall" if whole else "recall-other", result)
    if whole:
        bench.publish(result)


@main.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--quick", is_flag=True, help="Three tasks of each kind.")
def models(files: tuple[Path, ...], quick: bool = False) -> None:
    """Small models on this machine: facts kept, valid tool calls, seconds to the first token.

    FILES are GGUF files; without any, the model that `holdfast models pull` fetches.
    """
    from bench import models as bench
    from holdfast.engine.plugins import pull_weights

    with bars() as stage:
        chosen = files or (pull_weights(lambda done, whole: None),)
        result = bench.measure(chosen, *((3,) if quick else ()), stage=stage)
    bench.table(result).show(f"on {bench.CORES} cores, load average {result.load}")
    page.save("models-quick" if quick else "models", result)


if __name__ == "__main__":
    main(prog_name="python -m bench")
