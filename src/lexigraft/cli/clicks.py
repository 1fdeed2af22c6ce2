"""`data clicks`, `data evalset` and `data simulate`: data sets from click logs."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.options import JsonOption
from lexigraft.cli.setting_options import setting_option
from lexigraft.data.clicks.settings import ClickFilter, Columns, Correction, EvalSettings, SetSizes, Simulation

LogArgument = Annotated[
    Path,
    typer.Argument(
        metavar="LOG",
        help="A click log: TSV with a header line (gzip allowed) or Parquet.",
        exists=True,
        dir_okay=False,
    ),
]
ArtifactOption = Annotated[Path, typer.Option("--out", help="The folder to write; it appears when it is whole.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Another one draws other queries.")]
BackboneOption = Annotated[
    str,
    typer.Option(
        "--backbone",
        help="What embeds the queries for clustering: a hub name or folder, 'embedded' (the packaged MiniLM), 'none' "
        "(their words and letters); auto: embedded where it is installed, else none.",
    ),
]
COLUMNS = "Columns of the log"
FILTER = "Which pairs count"
SETS = "The sets"
AUTOMATIC_CLUSTERS = "one for every 300 queries, at most 10,000"


def _column(role: str) -> Any:
    return setting_option(Columns, role, f"--{role.replace('_', '-')}-column", COLUMNS)


def _size(role: str) -> Any:
    default = {
        "test_queries": "30, or a tenth of a smaller cluster",
        "test_distractors": "90, or three tenths of a smaller cluster",
        "valid_queries": "1, or a tenth of all queries until there are 100",
        "valid_distractors": "3, or a hundredth of a smaller cluster",
    }
    return setting_option(SetSizes, role, panel=SETS, default=default[role])


def clicks(
    source: LogArgument,
    out: ArtifactOption,
    more: Annotated[
        list[Path] | None,
        typer.Option("--more", help="A further log, which only trains; may be repeated.", exists=True, dir_okay=False),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            help="Clusters of meaning; queries are drawn evenly from them.",
            show_default=AUTOMATIC_CLUSTERS,
        ),
    ] = None,
    correct: Annotated[str, setting_option(Correction, "method", "--correct")] = Correction.method,
    eta: Annotated[float, setting_option(Correction, "eta")] = Correction.eta,
    max_weight: Annotated[float, setting_option(Correction, "max_weight")] = Correction.max_weight,
    backbone: BackboneOption = "auto",
    seed: SeedOption = 0,
    query_column: Annotated[str, _column("query")] = Columns.query,
    title_column: Annotated[str, _column("title")] = Columns.title,
    clicks_column: Annotated[str, _column("clicks")] = Columns.clicks,
    position_column: Annotated[str, _column("position")] = Columns.position,
    doc_id_column: Annotated[str | None, _column("doc_id")] = Columns.doc_id,
    impressions_column: Annotated[str | None, _column("impressions")] = Columns.impressions,
    max_position: Annotated[int, setting_option(ClickFilter, "max_position", panel=FILTER)] = ClickFilter.max_position,
    min_clicks: Annotated[int, setting_option(ClickFilter, "min_clicks", panel=FILTER)] = ClickFilter.min_clicks,
    min_documents: Annotated[
        int, setting_option(ClickFilter, "min_documents", panel=FILTER)
    ] = ClickFilter.min_documents,
    test_queries: Annotated[int | None, _size("test_queries")] = None,
    test_distractors: Annotated[int | None, _size("test_distractors")] = None,
    valid_queries: Annotated[int | None, _size("valid_queries")] = None,
    valid_distractors: Annotated[int | None, _size("valid_distractors")] = None,
    json: JsonOption = False,
) -> None:
    """Make a collection with training, validation and test queries of a click log.

    Kept are queries with several documents that were shown near the top and clicked several times. The queries are
    clustered by meaning; test and validation queries are drawn evenly from the clusters, together with distractors, and
    never train, not even out of a further log. 'lexigraft run --data OUT' takes the folder as it is. The sets that the
    vocabulary study has lie in it, too, each a collection of its own: testset, validset, trainset-small, trainset.
    report.json counts everything that was kept and dropped.
    """
    from lexigraft.datasets.click_data import ClickDataSettings, make_click_data

    show_messages()
    sizes = {
        "test_queries": test_queries, "test_distractors": test_distractors, "valid_queries": valid_queries,
        "valid_distractors": valid_distractors,
    }  # fmt: skip
    settings = ClickDataSettings(
        Columns(query_column, title_column, clicks_column, position_column, doc_id_column, impressions_column),
        ClickFilter(max_position, min_clicks, min_documents),
        Correction(correct, eta, max_weight),
        {role: size for role, size in sizes.items() if size is not None},
        clusters,
        backbone,
        seed,
    )
    report = make_click_data(source, more or [], settings, out, BarProgress())
    if json:
        print_json(report)
        return
    log = report["log"]
    _print_sets(f"{log['kept_pairs']:,} of {log['pairs']:,} pairs on {log['lines']:,} lines", report["sets"])
    print_line(f"collection: {out}   every count: {out / 'report.json'}")
    print_line(f"train and measure: lexigraft run --data {quote(str(out))} --out RUN")


def evalset(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A collection in BEIR layout, such as the one that 'lexigraft data clicks' made."
        ),
    ],
    out: ArtifactOption,
    background: Annotated[
        list[str] | None,
        typer.Option(
            "--background",
            help="A collection, given as --data is elsewhere, whose documents join the corpus; may be repeated.",
            metavar="COLLECTION",
        ),
    ] = None,
    queries: Annotated[int, setting_option(EvalSettings, "queries")] = EvalSettings.queries,
    split: Annotated[
        str, typer.Option("--split", help="Whose queries are candidates; auto: test, else dev, else train.")
    ] = "auto",
    candidates: Annotated[int, setting_option(EvalSettings, "candidates")] = EvalSettings.candidates,
    positives: Annotated[int, setting_option(EvalSettings, "positives")] = EvalSettings.positives,
    negatives: Annotated[int, setting_option(EvalSettings, "negatives")] = EvalSettings.negatives,
    threshold: Annotated[float, setting_option(EvalSettings, "threshold")] = EvalSettings.threshold,
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            help="Where DIR has no clusters.tsv: make so many clusters.",
            show_default=AUTOMATIC_CLUSTERS,
        ),
    ] = None,
    backbone: BackboneOption = "auto",
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Make an evaluation set of queries whose words mislead.

    Each query gets its best positives and hard negatives: documents with most of its words that were clicked for
    queries of other clusters only. A third of the queries have positives with few of their words, a third with some, a
    third with most: how a model does where words do not help can be told from where they do. The corpus is these
    documents alone; with so few, recall and FLOPS say little: --background adds those of other collections.
    """
    from lexigraft.datasets.evaluation_set import make_evaluation_set

    show_messages()
    settings = EvalSettings(queries, candidates, positives, negatives, threshold)
    report = make_evaluation_set(
        folder, split, settings, clusters, backbone, seed, out, BarProgress(), background or ()
    )
    if json:
        print_json(report)
        return
    title = f"{report['queries']:,} queries: {report['positives']:,} positives, {report['negatives']:,} negatives"
    columns = ["words in common", *(name.replace("_", " ") for name in report["terciles"]["low"])]
    rows = [[name, *map(_cell, facts.values())] for name, facts in report["terciles"].items()]
    print_table(title, columns, rows, left=("words in common",))
    for added in report["background"]:
        print_line(
            f"background {added['name']}: {added['added']:,} of {added['documents']:,} documents added; left out: "
            f"{added['same_text']:,} of a text that is there, {added['same_id']:,} of an id that is there, "
            f"{added['unjudged_positives']:,} positives of the queries beyond those judged"
        )
    print_line(f"set: {out}   {report['documents']:,} documents   one line a query: {out / 'evalset.jsonl'}")


def simulate(
    out: Annotated[Path, typer.Option("--out", help="The log to write, a TSV; gzip where the name ends in .gz.")],
    lines: Annotated[int, setting_option(Simulation, "lines")] = Simulation.lines,
    topics: Annotated[int, setting_option(Simulation, "topics")] = Simulation.topics,
    eta: Annotated[float, setting_option(Simulation, "eta")] = Simulation.eta,
    truth: Annotated[
        Path | None, typer.Option("--truth", help="Where the true relevance goes; else beside the log.")
    ] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", help="Write the log as Parquet too, here.")] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Write a click log whose truth is known, to try things on.

    Columns: query, title, position, impressions, clicks. The truth (query, title, relevance) goes to LOG.truth.tsv, so
    that a correction of position bias can be compared with it.
    """
    from lexigraft.data.clicks.simulate import write_simulation

    show_messages()
    truth = truth or out.with_name(f"{out.name.removesuffix('.gz').removesuffix('.tsv')}.truth.tsv")
    written = write_simulation(Simulation(lines, topics, eta), seed, out, truth, parquet, BarProgress())
    if json:
        files = {"log": str(out), "truth": str(truth), "parquet": str(parquet) if parquet else None}
        print_json({**written._asdict(), **files})
        return
    print_line(f"{written.lines:,} lines, {written.queries:,} queries, {written.pairs:,} pairs   {out}   {truth}")


def _print_sets(title: str, sets: Mapping[str, Mapping[str, Any]]) -> None:
    """A line for the positives of each set and, where it has distractors, one for all of it, as in the paper."""
    columns = list(next(iter(sets.values()))["with_distractors"])
    rows = []
    for name, facts in sets.items():
        counted = {"positives": facts}
        if facts["distractor_queries"]:
            counted["with distractors"] = facts["with_distractors"]
        rows += [[name, of, *(_cell(counts[column]) for column in columns)] for of, counts in counted.items()]
    labels = ("set", "counted")
    print_table(title, [*labels, *(column.replace("_", " ") for column in columns)], rows, left=labels)


def _cell(value: float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
