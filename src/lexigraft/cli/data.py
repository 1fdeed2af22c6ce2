"""`data`: collections looked at (`look`), counted and converted (here), and made of click logs (`clicks`)."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli import clicks
from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.look import look
from lexigraft.cli.options import FieldsOption, FormatOption, JsonOption, OnDuplicateOption
from lexigraft.cli.setting_options import setting_option
from lexigraft.core.settings import DataSettings

ANY = "Any collection"
app = typer.Typer(no_args_is_help=True, help="Look at collections, convert them, and make them of click logs.")


@app.command(rich_help_panel=ANY)
def stats(
    source: Annotated[str, typer.Argument(help="A collection, given as --data is elsewhere.")],
    fields: FieldsOption = None,
    format_: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Count a collection: documents, queries, judgements of every split, mean lengths."""
    from lexigraft.data.reading import AUTO, Reading
    from lexigraft.data.sources import open_source
    from lexigraft.data.stats import collection_stats

    show_messages()
    found = collection_stats(
        open_source(source, Reading("keep", "replace", fields or "", format_ or AUTO)), BarProgress()
    )
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


@app.command(rich_help_panel=ANY)
def convert(
    source: Annotated[str, typer.Argument(help="A collection, given as --data is elsewhere.")],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write.")],
    queries: Annotated[
        list[Path] | None,
        typer.Option(
            "--queries", help="Queries in place of its own: a table, JSON or TREC topics.", exists=True, dir_okay=False
        ),
    ] = None,
    qrels: Annotated[
        list[str] | None,
        typer.Option(
            "--qrels", help="Judgements to add: FILE or SPLIT=FILE (test where not said).", metavar="[SPLIT=]FILE"
        ),
    ] = None,
    merge_twins: Annotated[
        bool, typer.Option("--merge-twins", help="Documents of the same text become one, with the judgements of all.")
    ] = False,
    on_duplicate: OnDuplicateOption = None,
    on_bad_bytes: Annotated[str, setting_option(DataSettings, "on_bad_bytes")] = DataSettings.on_bad_bytes,
    fields: FieldsOption = None,
    format_: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Write any collection in BEIR layout, with TREC topics and judgements from elsewhere where they are given."""
    from lexigraft.data.reading import Reading
    from lexigraft.datasets.convert import convert as convert_collection

    show_messages()
    checked = DataSettings(
        on_duplicate=on_duplicate or DataSettings.on_duplicate, on_bad_bytes=on_bad_bytes, fields=fields or "",
        format=format_ or DataSettings.format,
    )  # fmt: skip
    given = [text.partition("=") if "=" in text else ("test", "=", text) for text in qrels or ()]
    files = {split: Path(file) for split, _, file in given}
    reading = Reading(checked.on_duplicate, checked.on_bad_bytes, checked.fields, checked.format)
    n_twins = convert_collection(source, out_, reading, queries or (), files, merge_twins, BarProgress())
    if json:
        print_json({"collection": str(out_), "merged": n_twins})
        return
    merged = f", {n_twins:,} documents merged into others of the same text" if merge_twins else ""
    print_line(f"{out_}: in BEIR layout{merged}; count it: lexigraft data stats {out_}")


def _cell(value: float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


app.command(rich_help_panel=ANY)(look)
for command in (clicks.clicks, clicks.evalset, clicks.simulate):
    app.command(rich_help_panel="Out of click logs")(command)
