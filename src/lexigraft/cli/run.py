"""`run`, `quickstart` and `report`."""

import json as json_library
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, err, out, print_json, print_prose, print_table, show_messages
from lexigraft.cli.cost import CostOption, cost_overrides
from lexigraft.cli.options import (
    QUICKSTART,
    AlphaOption,
    ConfigOption,
    DataOption,
    FieldsOption,
    FormatOption,
    JsonOption,
    OnDuplicateOption,
    OutOption,
    QrelsOption,
    RecipeOption,
    ReplaceOption,
    RunOption,
    SetOption,
    TextsOption,
    overrides,
)
from lexigraft.cli.setting_options import as_overrides, override_option

STAGE_NAMES = "collect, vocabulary, mlm, pretrain, teacher, tilde, finetune, encode, index, evaluate or report"
FromOption = Annotated[
    str | None, typer.Option("--from", help=f"Do this stage and those after it again: {STAGE_NAMES}.")
]
MinutesOption = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        help="The time that the run may take: BM25 is indexed first; then the run chooses lengths, batch, steps and "
        "learning rate itself, says in the report by what, keeps what is set by hand, and leaves out by name what does "
        "not fit.",
    ),
]
SHORT, FULL = "quickstart", "quickstart-full"
EXAMPLE = "remove duplicates but keep order"


def run(
    data: DataOption,
    out: OutOption,
    fields: FieldsOption = None,
    format_: FormatOption = None,
    queries: Annotated[str | None, override_option("data.queries", metavar="FILE")] = None,
    qrels: QrelsOption = None,
    pairs: Annotated[str | None, override_option("data.pairs")] = None,
    recipe: RecipeOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    alpha: AlphaOption = None,
    cost: CostOption = None,
    minutes: MinutesOption = None,
    peers: Annotated[bool | None, override_option("run.peers", "--peers/--no-peers")] = None,
    from_: FromOption = None,
    texts: TextsOption = None,
    replace: ReplaceOption = False,
    on_duplicate: OnDuplicateOption = None,
    json: JsonOption = False,
) -> None:
    """Take a collection from text to report: collect, train, encode, index, evaluate, report.

    A model is trained beside BM25 where there are training judgements and the 'train' extra is installed; with --pairs
    auto, it learns from pairs that are made of the texts themselves, after a sentence encoder that needs no training
    and its hybrid with BM25. Every stage leaves an artifact. Called again, the command continues where it stopped and
    redoes only what a changed setting touches. A folder with the run of another collection is refused.
    """
    judged = as_overrides({"data.queries": queries, "data.qrels": json_library.dumps(qrels) if qrels else None})
    peered = None if peers is None else str(peers).lower()
    kept = as_overrides({"index.texts": texts, "data.pairs": pairs, "run.peers": peered})
    given = [*cost_overrides(cost), *overrides(set_, on_duplicate, alpha, fields, format_), *judged, *kept]
    report = _run(data, out, config, given, from_, recipe, minutes, replace)
    _show(report, out, json)


def quickstart(
    out: Annotated[Path, typer.Option("--out", help="The folder to write.")] = QUICKSTART,
    full: Annotated[
        bool, typer.Option("--full", help="Train longer, on more of each text: better, and several times as long.")
    ] = False,
    minutes: MinutesOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    replace: ReplaceOption = False,
    json: JsonOption = False,
) -> None:
    """Search the Python documentation of this machine by a model trained on it; nothing is downloaded.

    BM25 is searchable after a minute or two. Then the model learns the vocabulary, is pre-trained, fine-tuned, pruned,
    indexed and measured beside it. Without the 'train' extra, it ends with BM25.
    """
    report = _run("pydocs", out, config, set_, None, FULL if full else SHORT, minutes, replace)
    _show(report, out, json)
    if not json:
        where = "" if out == QUICKSTART else f" --run {out}"
        err.print(
            "\nTry next:\n"
            f"  {_program()} open{'' if out == QUICKSTART else f' {out}'}    (search and compare in the browser)\n"
            f'  {_program()} search{where} "{EXAMPLE}"\n'
            f'  {_program()} explain{where} --text "{EXAMPLE}"\n'
            f'  {_program()} explain{where} "{EXAMPLE}" {_best_answer(out)}\n'
            f"  {_program()} run --data DIR --out runs/mine    (DIR: corpus.jsonl, queries.jsonl, qrels/*.tsv)",
            highlight=False, soft_wrap=True,
        )  # fmt: skip


def _program() -> str:
    """How this program is called here: its name, or its path where the name alone would not be found."""
    return "lexigraft" if shutil.which("lexigraft") else os.path.relpath(sys.argv[0])


def _best_answer(run: Path) -> str:
    from lexigraft.retrieve.retriever import Retriever

    with Retriever.open(run) as retriever:
        hits = retriever.search(EXAMPLE, 1)
    return hits[0].doc_id if hits else "DOC_ID"


def report(run: RunOption, json: JsonOption = False) -> None:
    """Show the report of a run."""
    from lexigraft.stages.layout import RunFolder
    from lexigraft.stages.report import read_report

    _show(read_report(RunFolder(run)), run, json)


def _run(
    source: str,
    folder: Path,
    config: Path | None,
    set_: list[str] | None,
    from_stage: str | None,
    recipe: str | None = None,
    minutes: float | None = None,
    replace: bool = False,
) -> dict[str, Any]:
    from lexigraft.core.config import given_names, load_settings
    from lexigraft.own_settings.given_time import GivenTime
    from lexigraft.retrieve.kept_metadata import keep_metadata
    from lexigraft.whole_run import run as run_pipeline

    show_messages()
    settings = load_settings(config, set_ or (), recipe)
    time = GivenTime(minutes, given_names(config, set_ or (), recipe)) if minutes is not None else None
    report = run_pipeline(source, folder, settings, from_stage, BarProgress(), time, replace)
    if report:
        keep_metadata(folder, source, settings.data)
    return report


def _show(report: Mapping[str, Any], folder: Path, as_json: bool) -> None:
    from lexigraft.stages.report import (
        COLUMNS,
        choice_lines,
        made_lines,
        operating_point_lines,
        reading_lines,
        table_cells,
        unmeasured_lines,
    )
    from lexigraft.stages.report_graft import graft_lines
    from lexigraft.stages.report_picture import searched_rows

    if not report:  # another process has it
        return
    if as_json:
        print_json(report)
        return
    collection = report["collection"]
    if not report["rows"]:
        for line in unmeasured_lines(report, str(folder)):
            print_prose(line)
        return
    queries = f"{collection['queries']:,} {collection['split']} queries"
    title = f"{collection['name']}: {queries} over {searched_rows(report)}"
    print_table(title, COLUMNS, table_cells(report), left=("system",))
    said = (*operating_point_lines(report), *reading_lines(report), *graft_lines(report))
    for line in (*said, *made_lines(report), *choice_lines(report)):
        print_prose(line)
    out.print(
        f"picture: {folder / 'report.png'}   table: {folder / 'report.md'}   numbers: {folder / 'report.json'}",
        soft_wrap=True,
    )
