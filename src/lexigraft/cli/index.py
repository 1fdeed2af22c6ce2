"""`index`."""

from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, out, print_json, show_messages
from lexigraft.cli.options import ConfigOption, DataOption, JsonOption, OutOption, SetOption


def index(
    data: DataOption,
    out_: OutOption,
    config: ConfigOption = None,
    set_: SetOption = None,
    keep: Annotated[
        int, typer.Option("--keep", min=0, help="Terms kept a document, the heaviest first; 0 keeps all.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Build one BM25 index, without measuring anything; search it with --index."""
    from lexigraft.core.config import load_settings
    from lexigraft.pipeline.index_only import build

    show_messages()
    meta = build(data, out_, load_settings(config, set_ or ()), keep, BarProgress())
    if json:
        print_json(
            {"index": str(out_), "documents": meta.n_documents, "terms": meta.n_terms, "postings": meta.n_postings}
        )
    else:
        out.print(
            f"{out_}: {meta.n_documents:,} documents, {meta.n_terms:,} terms, {meta.n_postings:,} postings",
            soft_wrap=True,
        )
        out.print(f'search it: lexigraft search --index {out_} "your query"', soft_wrap=True)
