"""`model import`: a SPLADE model made elsewhere, as one of ours."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import show, show_messages
from lexigraft.cli.options import JsonOption


def import_(
    source: Annotated[
        str,
        typer.Argument(
            help="A folder or hub name: of sentence-transformers, a masked language model, or an export of Lexigraft."
        ),
    ],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the model to.")],
    query_length: Annotated[
        int, typer.Option("--query-length", min=0, help="Subwords read of a query; 0: as many as the model says.")
    ] = 0,
    document_length: Annotated[
        int, typer.Option("--document-length", min=0, help="Subwords read of a document; 0: as many as the model says.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Bring in a SPLADE model made elsewhere, or one that was exported from here.

    Then: lexigraft encode --model, index --vectors, search, explain.
    """
    from lexigraft.learn.import_model import import_model

    show_messages()
    facts = import_model(source, out_, query_length, document_length)
    show(
        json,
        {"model": str(out_), **facts},
        f"{out_}: {facts['n_terms']:,} terms, {facts['pooling']} over {_pooled(facts)}, at most "
        f"{facts['query_length']} of a query and {facts['document_length']} of a document",
        f"use it: lexigraft encode --data DIR --model {out_} --out VECTORS",
    )


def _pooled(facts: dict[str, Any]) -> str:
    return "all tokens" if facts["pooled"] == "all" else "words"
