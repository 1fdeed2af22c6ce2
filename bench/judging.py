"""What `lexigraft judge` finds, and with how many answers: sessions of users who answer as a collection's judgements.

    python -m bench.judging RUN --data DIR [--system NAME] [--baseline NAME] [--sessions 600] [--out FILE.json]

Every session draws its questions from DIR's judged queries, in an order of its own, until it is enough. Nothing is
written into the run.
"""

import argparse
import json
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

from lexigraft.data.sources import open_source
from lexigraft.measure.measures import judgements
from lexigraft.measure.sequential import DEPTH, difference_of, verdict
from lexigraft.retrieve.judging import to_judge
from lexigraft.retrieve.open_judging import pair_of
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.layout import RunFolder


class Asked(NamedTuple):
    """A question: how many relevant documents the second system has more, and how many documents are to be judged."""

    difference: float
    n_documents: int


def asked_of(run: Path, names: tuple[str, str], data: str) -> list[Asked]:
    collection = open_source(data)
    judged = judgements(collection.qrels(collection.evaluation_split("auto") or "train"))
    texts = [(query.text, judged[query.query_id]) for query in collection.queries() if query.query_id in judged]
    found = [Retriever.open(run, name).search_many([text for text, _ in texts], DEPTH) for name in names]
    asked = []
    for at, (text, grades) in enumerate(texts):
        first, second = ([hit.doc_id for hit in one[at]] for one in found)
        relevant = [doc_id for doc_id, grade in grades.items() if grade > 0]
        asked.append(Asked(difference_of(first, second, relevant), len(to_judge(text, first, second))))
    return asked


def session(questions: list[Asked]) -> tuple[int, int, int]:
    """(whom it was decided for, questions asked, documents judged)."""
    for n in range(1, len(questions) + 1):
        some = questions[:n]
        found = verdict([one.difference for one in some], sum(not one.n_documents for one in some))
        if found.is_enough:
            break
    return found.favoured, sum(one.n_documents > 0 for one in some), sum(one.n_documents for one in some)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", required=True)
    parser.add_argument("--system")
    parser.add_argument("--baseline")
    parser.add_argument("--sessions", type=int, default=600)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = pair_of(list(RunFolder(options.run).ready()), str(options.run), options.system, options.baseline)
    asked, draw = asked_of(options.run, names, options.data), Random(0)
    sessions = [session(draw.sample(asked, len(asked))) for _ in range(options.sessions)]
    row = {
        "systems": names,
        "data": Path(options.data).name,
        "queries": len(asked),
        "queries with other results": sum(one.n_documents > 0 for one in asked),
        "second has more": fmean(one.difference for one in asked),
        "sessions": len(sessions),
        "for the first": fmean(one[0] < 0 for one in sessions),
        "for the second": fmean(one[0] > 0 for one in sessions),
        "questions": fmean(one[1] for one in sessions),
        "documents": fmean(one[2] for one in sessions),
    }
    if options.out:
        options.out.write_text(json.dumps(row, indent=1) + "\n")
    print(json.dumps(row))


if __name__ == "__main__":
    main()
