"""`index`, which builds one, and the group of its commands: those that look at indexes, and those of live ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import ReadingOptions
from lexigraft.cli.index import graft, import_, live, metadata, shards, stats
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption, ReplaceOption, TextsOption
from lexigraft.cli.shard_options import ShardOptions
from lexigraft.core.cut import document_cut
from lexigraft.core.errors import SettingError
from lexigraft.core.types import counted_rows

if TYPE_CHECKING:
    from lexigraft.index.inverted import IndexMeta
    from lexigraft.stages.standalone import Improve, Invert

app = typer.Typer(invoke_without_command=True, no_args_is_help=True)


@app.callback()
@grouped
def index(
    *,
    context: typer.Context,
    out_: Annotated[
        Path | None, typer.Option("--out", help="The folder to write; made if absent, continued if begun.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="A collection, given as for 'run': indexed with BM25. With --vectors: the one that they are of, whose "
            "texts are kept.",
        ),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Vectors made by 'lexigraft encode', instead of BM25's.")
    ] = None,
    given: ReadingOptions,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="NUMBER|mSHARE",
            help="Terms kept a document, the heaviest first; 0 keeps all, m0.8 the fewest that have this share of the "
            "sum of its weights.",
        ),
    ] = "0",
    grafted: Annotated[
        bool,
        typer.Option(
            "--grafted",
            help="Graft BM25's index: documents get words from their neighbours and vectors (settings [grafted]). By "
            "BM25 it is searchable at once.",
        ),
    ] = False,
    texts: TextsOption = None,
    keeps_metadata: Annotated[
        bool,
        typer.Option(
            "--metadata/--no-metadata",
            help="Keep the fields of documents that are neither id nor title nor text, for searches with conditions.",
        ),
    ] = True,
    by: ShardOptions,
    keep_shards: Annotated[
        bool, typer.Option("--keep-shards", help="Leave the shards in INDEX.shards; 'index merge-shards' takes them.")
    ] = False,
    replace: ReplaceOption = False,
    json: JsonOption = False,
) -> None:
    """Build one index, of text or of a model's vectors, without measuring anything; search it with --index.

    'index stats' measures indexes, 'index metadata' keeps further fields that searches filter by. The other commands
    below are for a live index: documents are added to it and deleted while others search it.
    """
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    from lexigraft.retrieve.kept_metadata import keep_metadata
    from lexigraft.retrieve.warm import compile_search
    from lexigraft.stages.standalone import build, index_vectors, invert_at_once

    if out_ is None:
        raise SettingError("give --out INDEX, the folder to write the index to")
    invert: Invert = invert_at_once
    if (where := by.where(keep_shards)) is not None:
        from lexigraft.shards.index import invert_by_shards

        invert = invert_by_shards(where)
    show_messages()
    settings, cut = given.load({"index.texts": texts}), document_cut(keep, "--keep")
    if vectors is not None:
        if grafted:
            raise SettingError("--grafted adds to BM25's words, and --vectors are a model's; give one of the two")
        meta = index_vectors(vectors, out_, settings, cut, BarProgress(), replace, data, invert)
    elif data is not None:
        improve: Improve | None = None
        if grafted:
            from lexigraft.learn.grafting import graft_alone, require_graft

            require_graft(settings)
            improve = graft_alone
        meta = build(data, out_, settings, cut, BarProgress(), replace, invert, improve)
    else:
        raise SettingError("give either --data DIR or --vectors VECTORS")
    compile_search(out_)
    _show(out_, meta, [] if data is None else keep_metadata(out_, data, settings.data, keeps_metadata), json)


def _show(out: Path, meta: "IndexMeta", keys: list[str], json: bool) -> None:
    """What was built, and the keys that searches of it can filter by."""
    rows = counted_rows(meta.n_documents, meta.passages)
    facts = {"index": str(out), "documents": meta.n_documents, "passages": meta.passages}
    show(
        json,
        {**facts, "terms": meta.n_terms, "postings": meta.n_postings, "metadata": keys},
        f"{out}: {rows}, {meta.n_terms:,} terms, {meta.n_postings:,} postings",
        *([f"to filter by (--where): {', '.join(keys)}"] if keys else []),
        f'search it: lexigraft search --index {out} "your query"',
    )


def _refuse_options_before(context: typer.Context) -> None:
    """An option before the command's name would be taken for the building of an index, and be lost."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    lost = [name for name, source in sources.items() if source is not None and source.name != "DEFAULT"]
    if lost:
        name = lost[0].rstrip("_").replace("_", "-")
        raise SettingError(f"--{name} stands before '{context.invoked_subcommand}'; give it after the command's name")


for command in (stats.stats, metadata.metadata, shards.merge_shards):
    app.command(rich_help_panel="Any index")(command)
app.command("import", rich_help_panel="Any index")(import_.import_)
for command in (live.live, live.add, live.delete, live.merge, graft.graft, live.status):
    app.command(rich_help_panel="A live index")(command)
