"""`data`: stats here, and the commands of `clicks`."""

from dataclasses import asdict
from typing import Annotated

import typer

from lexigraft.cli import clicks
from lexigraft.cli.console import BarProgress, print_json, print_table, show_messages
from lexigraft.cli.options import JsonOption

app = typer.Typer(no_args_is_help=True, help="Look at collections, and make them of click logs.")


@app.callback()
def _group() -> None:
    """Look at collections, and make them of click logs."""


@app.command()
def stats(
    source: Annotated[str, typer.Argument(help="A collection, given as --data is elsewhere.")],
    json: JsonOption = False,
) -> None:
    """Count a collection: documents, queries, judgements of every split, mean lengths."""
    from lexigraft.data.collection import Reading
    from lexigraft.data.sources import open_source
    from lexigraft.data.stats import collection_stats

    show_messages()
    found = collection_stats(open_source(source, Reading("keep", "replace")), BarProgress())
    if json:
        print_json(asdict(found))
        return
    facts = [
        (name.replace("_", " "), _cell(value))
        for name, value in asdict(found).items()
        if name not in ("name", "splits")
    ]
    print_table(found.name, ("collection", ""), facts, left=("collection",))
    columns = list(next(iter(asdict(found)["splits"].values()), {}))
    if columns:
        rows = [[split, *(_cell(value) for value in asdict(values).values())] for split, values in found.splits.items()]
        print_table(
            "positive judgements", ["split", *(column.replace("_", " ") for column in columns)], rows, left=("split",)
        )


def _cell(value: float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


app.command()(clicks.clicks)
app.command()(clicks.evalset)
app.command()(clicks.simulate)
