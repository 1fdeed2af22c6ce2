"""`export`: what a run, an index or a model holds, in the form that another program reads."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, print_prose, show, show_messages
from lexigraft.cli.options import DkOption, JsonOption, QkOption, SystemOption
from lexigraft.core.cut import document_cut, query_cut
from lexigraft.export.targets import TARGETS, Wanted
from lexigraft.export.targets import export as export_to

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="; ".join(f"**{one.name}**: {one.summary}" for one in TARGETS.values()) + ".",
        show_default=False,
    ),
]
SourceArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="A run, an index or a saved retriever; for sentence-transformers and onnx a model, too.",
        show_default=False,
    ),
]
OutOption = Annotated[Path, typer.Option("--out", help="The folder to write; an export that is there is replaced.")]
NameOption = Annotated[str, typer.Option("--name", help="What the collection, index or table is called in the engine.")]
QueriesOption = Annotated[
    Path | None,
    typer.Option("--queries", help="Queries (.jsonl, .tsv, TREC topics), written as the engine takes them."),
]
FormOption = Annotated[
    str,
    typer.Option(
        "--form",
        metavar="FORM",
        help="Of sentence-transformers. stock: its own modules alone, which run no code of ours, where the model "
        "allows it; full: with a module of ours, which loses nothing. Where not given: stock where that loses nothing. "
        "Of opensearch: rank_features (the usual one), or sparse_vector, for vocabularies of 32,768 terms at most.",
    ),
]


def export(
    target: TargetArgument,
    run: SourceArgument,
    out_: OutOption,
    system: SystemOption = None,
    qk: QkOption = None,
    dk: DkOption = None,
    name: NameOption = "lexigraft",
    queries: QueriesOption = None,
    form: FormOption = "",
    json: JsonOption = False,
) -> None:
    """Write a run, an index or a model in the form that another program reads, and say what is kept and what is lost.

    Models go to sentence-transformers and ONNX Runtime, indexes to PISA, Lucene, Qdrant, Milvus, PostgreSQL,
    OpenSearch, Elasticsearch and Vespa. A limit of a target that the index exceeds is an error that names it.
    """
    from lexigraft.data.readers.topics import read_queries

    show_messages()
    wanted = Wanted(
        run, system, None if qk is None else query_cut(qk), None if dk is None else document_cut(dk), name,
        [query for _, query in read_queries(queries)] if queries is not None else (), form,
    )  # fmt: skip
    exported = export_to(target, wanted, out_, BarProgress())
    show(json, {"target": target, "out": str(out_), **exported.facts}, f"{out_}: {exported.title}")
    if not json:
        for word, lines in (("kept", exported.kept), ("lost", exported.lost)):
            for line in lines:
                print_prose(f"{word}: {line}")
        print_prose(f"how it is used: {out_ / 'README.md'}")
