"""`index metadata`: what is known of documents beside their text, kept for filtered searches."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import print_json, print_table, show_messages
from lexigraft.cli.options import FieldsOption, FormatOption, IndexOption, JsonOption
from lexigraft.core.errors import SettingError


def metadata(
    run: Annotated[Path | None, typer.Option("--run", help="The folder of a run.")] = None,
    index: IndexOption = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="The collection: the 'metadata' objects in the lines of corpus.jsonl, or the fields of a "
            "file that are neither id nor title nor text.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help='A file instead: {"_id": ..., key: value} a line (.jsonl), or a table (.tsv).'),
    ] = None,
    fields: FieldsOption = None,
    format_: FormatOption = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Drop the columns that are there, and take a collection that the index was not made of."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Keep documents' metadata, beside an index or in a live one, for: lexigraft search --where "year >= 2020".

    Columns that are there already stay, but for those that come anew. In a live index only the documents that are named
    change, in the keys that they are given.
    """
    from lexigraft.data.reading import AUTO, Reading
    from lexigraft.index.live.state import is_live
    from lexigraft.retrieve.metadata import build_metadata
    from lexigraft.retrieve.place import find_place

    show_messages()
    if (data is None) == (file is None):
        raise SettingError("give either --data DIR or --file FILE")
    if (run is None) == (index is None):
        raise SettingError("give either --run RUN or --index INDEX")
    reading = Reading(on_duplicate="keep", fields=fields or "", format=format_ or AUTO)
    place = find_place(index or run or Path())
    columns = build_metadata(place, data, file, replace, reading)
    written = place.index if is_live(place.index) else place.metadata
    if json:
        print_json({"metadata": str(written), "columns": [asdict(column) for column in columns]})
        return
    rows = [(column.key, column.kind, f"{column.n_documents:,}") for column in columns]
    print_table(str(written), ("key", "kind", "documents"), rows, left=("key", "kind"))
