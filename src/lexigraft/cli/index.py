"""`index`."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, out, print_json, show_messages
from lexigraft.cli.options import ConfigOption, JsonOption, OnDuplicateOption, OutOption, SetOption, overrides
from lexigraft.core.errors import SettingError


def index(
    out_: OutOption,
    data: Annotated[
        str | None,
        typer.Option("--data", help="A collection, given as for 'run': indexed with BM25."),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Vectors made by 'lexigraft encode', instead of --data.")
    ] = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    keep: Annotated[
        int, typer.Option("--keep", min=0, help="Terms kept a document, the heaviest first; 0 keeps all.")
    ] = 0,
    on_duplicate: OnDuplicateOption = None,
    json: JsonOption = False,
) -> None:
    """Build one index, of text or of a model's vectors, without measuring anything; search it with --index."""
    from lexigraft.core.config import load_settings
    from lexigraft.pipeline.single import build, index_vectors

    show_messages()
    settings = load_settings(config, overrides(set_, on_duplicate))
    if data is not None and vectors is None:
        meta = build(data, out_, settings, keep, BarProgress())
    elif vectors is not None and data is None:
        meta = index_vectors(vectors, out_, settings, keep, BarProgress())
    else:
        raise SettingError("give either --data DIR or --vectors VECTORS")
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
