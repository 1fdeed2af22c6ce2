"""`lexigraft index merge-shards`: indexes of parts of a collection to one."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption
from lexigraft.core.types import counted_rows


@grouped
def merge_shards(
    *,
    shards: Annotated[list[Path], typer.Argument(help="Indexes of parts of a collection, in their order.")],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the index to.")],
    given: SettingsOptions,
    keeps_metadata: Annotated[
        bool, typer.Option("--metadata/--no-metadata", help="Keep the metadata that lie beside the shards.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Merge indexes of parts of a collection into one; they must be of one model and alike in their settings.

    Shards of 'index --shards --keep-shards' give the index that would have been built at once. Others may have
    different scales; they get the largest, and what that changes is said.
    """
    from lexigraft.retrieve.warm import compile_search
    from lexigraft.shards.merge import merge_shards as merge

    show_messages()
    meta = merge(shards, out_, given.load().index, BarProgress(), keeps_metadata)
    compile_search(out_)
    rows = counted_rows(meta.n_documents, meta.passages)
    show(
        json,
        {"index": str(out_), "documents": meta.n_documents, "terms": meta.n_terms, "postings": meta.n_postings},
        f"{out_}: {rows}, {meta.n_terms:,} terms, {meta.n_postings:,} postings",
    )
