"""`lexigraft index import`: an index from lists or vectors that another program wrote."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.options import JsonOption, ReplaceOption, SystemOption
from lexigraft.core.types import counted_rows


def import_(
    file: Annotated[
        Path, typer.Argument(help="A CIFF file; or a file of JSON vectors, or a folder of them, also packed (.gz).")
    ],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="ciff|vectors",
            help="ciff: the Common Index File Format. vectors: a JSON object a line, with an id and a vector of terms "
            "and weights, as Anserini reads them.",
        ),
    ],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the index to.")],
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            metavar="RUN|INDEX",
            help="What encodes queries to it: a run or an index whose vocabulary has all of its terms. Without: "
            "queries are terms between white space, which weigh 1 or as much as they say: car^3 engine.",
        ),
    ] = None,
    system: SystemOption = None,
    replace: ReplaceOption = False,
    json: JsonOption = False,
) -> None:
    """Make an index of inverted lists (CIFF) or JSON vectors that another program wrote, or that 'export' did.

    Weights that are whole numbers stay what they are, and so do the documents' order and ids; others are quantised.
    """
    from lexigraft.export.importing.import_index import import_index
    from lexigraft.retrieve.warm import compile_search

    show_messages()
    meta, are_kept = import_index(file, format_, out_, like, system, replace, BarProgress())
    compile_search(out_)
    facts = {"index": str(out_), "documents": meta.n_documents, "terms": meta.n_terms, "postings": meta.n_postings}
    weights = (
        f"{meta.bits} bits, as in the file" if are_kept else f"quantised to {meta.bits} bits, scale {meta.scale:g}"
    )
    show(
        json,
        {**facts, "bits": meta.bits, "scale": meta.scale, "weights_kept": are_kept},
        f"{out_}: {counted_rows(meta.n_documents)}, {meta.n_terms:,} terms, {meta.n_postings:,} postings",
        f"weights: {weights}",
        f'search it: lexigraft search --index {out_} "{"your query" if like else "term other^2"}"',
    )
