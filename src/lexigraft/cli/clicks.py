"""`data clicks`, `data evalset` and `data simulate`: data sets from click logs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.options import JsonOption

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


def clicks(
    source: LogArgument,
    out: ArtifactOption,
    more: Annotated[
        list[Path] | None,
        typer.Option("--more", help="A further log, which only trains; may be repeated.", exists=True, dir_okay=False),
    ] = None,
    clusters: Annotated[
        int, typer.Option("--clusters", help="Clusters of meaning; queries are drawn evenly from them.")
    ] = 10_000,
    correct: Annotated[
        str,
        typer.Option(
            "--correct",
            help="Position bias: 'none': a label is the number of clicks; 'power': a click at position k counts k**eta "
            "times; 'estimated': how often, is learned from documents shown at several positions (needs impressions).",
        ),
    ] = "none",
    eta: Annotated[float, typer.Option("--eta", help="How fast attention falls, for '--correct power'.")] = 1.0,
    max_weight: Annotated[float, typer.Option("--max-weight", help="No click counts for more than this.")] = 20.0,
    backbone: BackboneOption = "auto",
    seed: SeedOption = 0,
    query_column: Annotated[str, typer.Option(rich_help_panel=COLUMNS, help="What was asked.")] = "query",
    title_column: Annotated[str, typer.Option(rich_help_panel=COLUMNS, help="The document's title.")] = "title",
    clicks_column: Annotated[str, typer.Option(rich_help_panel=COLUMNS, help="How often it was clicked.")] = "clicks",
    position_column: Annotated[
        str, typer.Option(rich_help_panel=COLUMNS, help="Where it was shown; the top is 1.")
    ] = "position",
    doc_id_column: Annotated[
        str | None,
        typer.Option(rich_help_panel=COLUMNS, help="What tells documents apart, such as a URL; else the title does."),
    ] = None,
    impressions_column: Annotated[
        str | None, typer.Option(rich_help_panel=COLUMNS, help="How often it was shown, clicked or not.")
    ] = None,
    max_position: Annotated[
        int, typer.Option(rich_help_panel=FILTER, help="Lines of lower positions are dropped.")
    ] = 10,
    min_clicks: Annotated[
        int, typer.Option(rich_help_panel=FILTER, help="A document with fewer for a query is dropped.")
    ] = 2,
    min_documents: Annotated[
        int, typer.Option(rich_help_panel=FILTER, help="A query with fewer such documents is dropped.")
    ] = 2,
    test_queries: Annotated[int, typer.Option(rich_help_panel=SETS, help="Of each cluster.")] = 30,
    test_distractors: Annotated[
        int, typer.Option(rich_help_panel=SETS, help="Queries of each cluster whose documents make the test harder.")
    ] = 90,
    valid_queries: Annotated[int, typer.Option(rich_help_panel=SETS, help="Of each cluster.")] = 1,
    valid_distractors: Annotated[int, typer.Option(rich_help_panel=SETS, help="Of each cluster.")] = 3,
    json: JsonOption = False,
) -> None:
    """Make a testset, a validset and two trainsets of a click log.

    Kept are queries with several documents that were shown near the top and clicked several times. The queries are
    clustered by meaning; test and validation queries are drawn evenly from the clusters, together with distractors, and
    never train, not even out of a further log. Each set is a collection in BEIR layout that 'lexigraft run' takes;
    report.json counts everything that was kept and dropped.
    """
    from lexigraft.data.clicks.settings import ClickFilter, Columns, Correction, SetSizes
    from lexigraft.datasets.click_data import ClickDataSettings, make_click_data

    show_messages()
    settings = ClickDataSettings(
        Columns(query_column, title_column, clicks_column, position_column, doc_id_column, impressions_column),
        ClickFilter(max_position, min_clicks, min_documents),
        Correction(correct, eta, max_weight),
        SetSizes(test_queries, test_distractors, valid_queries, valid_distractors),
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
    print_line(f"sets: {out}   every count: {out / 'report.json'}")


def evalset(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A collection in BEIR layout, such as the testset that 'lexigraft data clicks' made."
        ),
    ],
    out: ArtifactOption,
    queries: Annotated[int, typer.Option("--queries", help="How many; a third from each level of difficulty.")] = 3000,
    split: Annotated[
        str, typer.Option("--split", help="Whose queries are candidates; auto: test, else dev, else train.")
    ] = "auto",
    candidates: Annotated[
        int, typer.Option("--candidates", help="Queries drawn evenly from the clusters first; 0: five times --queries.")
    ] = 0,
    positives: Annotated[int, typer.Option("--positives", help="Of a query at most, the best by label.")] = 3,
    negatives: Annotated[int, typer.Option("--negatives", help="Of a query at most, the best matching.")] = 10,
    threshold: Annotated[
        float, typer.Option("--threshold", help="A negative holds more than this share of the query's words.")
    ] = 0.5,
    clusters: Annotated[
        int, typer.Option("--clusters", help="Where DIR has no clusters.tsv: make so many clusters.")
    ] = 10_000,
    backbone: BackboneOption = "auto",
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Make an evaluation set of queries whose words mislead.

    Each query gets its best positives and hard negatives: documents with most of its words that were clicked for
    queries of other clusters only. A third of the queries have positives with few of their words, a third with some, a
    third with most: how a model does where words do not help can be told from where they do.
    """
    from lexigraft.data.clicks.settings import EvalSettings
    from lexigraft.datasets.evaluation_set import make_evaluation_set

    show_messages()
    settings = EvalSettings(queries, candidates, positives, negatives, threshold)
    report = make_evaluation_set(folder, split, settings, clusters, backbone, seed, out, BarProgress())
    if json:
        print_json(report)
        return
    title = f"{report['queries']:,} queries: {report['positives']:,} positives, {report['negatives']:,} negatives"
    columns = ["words in common", *(name.replace("_", " ") for name in report["terciles"]["low"])]
    rows = [[name, *map(_cell, facts.values())] for name, facts in report["terciles"].items()]
    print_table(title, columns, rows, left=("words in common",))
    print_line(f"set: {out}   one line a query: {out / 'evalset.jsonl'}")


def simulate(
    out: Annotated[Path, typer.Option("--out", help="The log to write, a TSV; gzip where the name ends in .gz.")],
    lines: Annotated[int, typer.Option("--lines", help="Of the log.")] = 200_000,
    topics: Annotated[int, typer.Option("--topics", help="Subjects with words of their own.")] = 50,
    eta: Annotated[float, typer.Option("--eta", help="Position k is looked at with probability (1/k)**eta.")] = 1.0,
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
    from lexigraft.data.clicks.settings import Simulation
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
    columns = list(next(iter(sets.values())))
    rows = [[name, *(_cell(facts[column]) for column in columns)] for name, facts in sets.items()]
    print_table(title, ["set", *(column.replace("_", " ") for column in columns)], rows, left=("set",))


def _cell(value: float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
