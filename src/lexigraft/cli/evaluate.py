"""`evaluate`."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import print_json, print_table, show_messages
from lexigraft.cli.options import JsonOption
from lexigraft.core.errors import InputError, SettingError

log = logging.getLogger(__name__)

DEFAULT_MEASURES = ["MRR@10", "R@10", "R@100", "R@1000", "nDCG@10"]


def evaluate(
    trec_run: Annotated[
        list[Path], typer.Argument(help="TREC run files, such as RUN/judged/bm25/evaluation-qk0-dk0/run.trec.")
    ],
    qrels: Annotated[Path | None, typer.Option("--qrels", help="A file of judgements, TREC's or BEIR's.")] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", help="A collection to take the judgements from, instead of --qrels."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Which judgements of --data; auto: test, or dev.")] = "auto",
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="A measure such as nDCG@10; may be repeated.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure TREC run files, from any system, against judgements."""
    from lexigraft.data.judgements import read_judgements
    from lexigraft.data.sources import open_source
    from lexigraft.evaluate.measures import judgements
    from lexigraft.evaluate.measures import measure as measure_rankings
    from lexigraft.evaluate.trec import read_run, trec_id

    show_messages()
    if (qrels is None) == (data is None):
        raise SettingError("give the judgements as either --qrels FILE or --data DIR")
    if qrels is not None:
        judged = judgements(read_judgements(qrels))
    else:
        collection = open_source(data or "")
        chosen = collection.evaluation_split(split)
        if chosen is None:
            raise InputError(f"{data} has no test or dev judgements; name others with --split")
        judged = judgements(collection.qrels(chosen))
    if not judged:
        raise InputError("the judgements hold no relevant document")
    names = measure or DEFAULT_MEASURES
    judged = {trec_id(query): {trec_id(doc): grade for doc, grade in docs.items()} for query, docs in judged.items()}
    found = {}
    for path in trec_run:
        rankings = read_run(path)
        _warn_of_shallow_runs(path, max((len(ranking.doc_ids) for ranking in rankings), default=0), names)
        found[str(path)] = {item.measure: item.mean for item in measure_rankings(rankings, judged, names)}
    if json:
        print_json(found)
    else:
        rows = [[path, *(f"{values[name]:.4f}" for name in names)] for path, values in found.items()]
        print_table(f"{len(judged):,} judged queries", ["run", *names], rows, left=("run",))


def _warn_of_shallow_runs(path: Path, depth: int, names: list[str]) -> None:
    deeper = [name for name in names if name.rpartition("@")[2].isdigit() and int(name.rpartition("@")[2]) > depth]
    if deeper:
        log.warning("%s holds at most %d results a query: %s see no more than those", path, depth, ", ".join(deeper))
