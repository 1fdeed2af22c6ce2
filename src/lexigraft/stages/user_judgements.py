"""What the user judged of a run (`lexigraft judge`): ordinary queries and judgements in BEIR layout, and the decision.

RUN/judgements/queries.jsonl      the questions; one without judgements was left out, or has the same results in both
RUN/judgements/qrels/test.tsv     a line for each document that was judged: 1 relevant, 0 not
RUN/judgements/decision.json      which of two systems is better by these, or that none was seen to be

The files are small: every answer writes them anew, whole, before the next one is asked for. Each call reads them again,
so that a command and a page may take answers at one time, and nobody's are lost.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.errors import ArtifactError
from lexigraft.core.folders import make_folders
from lexigraft.core.lock import writer_lock
from lexigraft.core.plain_files import replace_for_good
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.core.trec_ids import id_of_trec, trec_id
from lexigraft.data.readers.judgements import read_judgements
from lexigraft.data.readers.topics import read_queries

FOLDER = "judgements"
QUERIES, QRELS, DECISION = "queries.jsonl", "qrels/test.tsv", "decision.json"
HEADER = "query-id\tcorpus-id\tscore\n"
AGAIN = "remove it, and give the command lexigraft judge, which writes it anew"

Judged = dict[str, dict[str, bool]]  # by question and document: whether it is relevant


class UserJudgements(NamedTuple):
    """Those of the run in the folder `root`."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    @property
    def files(self) -> list[Path]:
        return [self.folder / name for name in (QUERIES, QRELS, DECISION)]

    def read(self) -> Judged:
        """All there is, in the order in which the questions came."""
        return self._judged(self._questions())

    def answer(self, question: str, doc_id: str, is_relevant: bool) -> None:
        """Keep an answer; a former one to the same is replaced."""
        with writer_lock(self.folder, wait=True):
            judged = self.read()
            judged.setdefault(question, {})[doc_id] = is_relevant
            self._write(judged)

    def note(self, question: str, without_answers: bool = False) -> None:
        """Keep that a question was asked; `without_answers`: those that were given to it go."""
        with writer_lock(self.folder, wait=True):
            judged = self.read()
            if question not in judged or (without_answers and judged[question]):
                self._write({**judged, question: {}})

    def decide(self, said: Mapping[str, Any]) -> None:
        """Keep what the judgements decide."""
        with writer_lock(self.folder, wait=True):
            write_sealed(self.folder / DECISION, said)

    def _questions(self) -> dict[str, str]:
        """Their texts by their ids."""
        file = self.folder / QUERIES
        return {query.query_id: query.text for _, query in read_queries(file)} if file.is_file() else {}

    def _judged(self, questions: Mapping[str, str]) -> Judged:
        found: Judged = {text: {} for text in questions.values()}
        file = self.folder / QRELS
        for query_id, doc_id, relevance in read_judgements(file) if file.is_file() else ():
            if query_id in questions:  # else a kill came between the writing of both files: it is asked again
                found[questions[query_id]][id_of_trec(doc_id)] = relevance > 0
        return found

    def _write(self, judged: Judged) -> None:
        """The judgements first: without its question an answer says nothing, but a question without answers does."""
        ids = {text: query_id for query_id, text in self._questions().items()}
        ids |= {text: f"q{number}" for number, text in enumerate(judged, 1) if text not in ids}
        lines = [f"{ids[text]}\t{trec_id(doc_id)}\t{int(is_relevant)}\n"
                 for text, answers in judged.items() for doc_id, is_relevant in answers.items()]  # fmt: skip
        texts = [json.dumps({"_id": ids[text], "text": text}, ensure_ascii=False) + "\n" for text in judged]
        make_folders((self.folder / QRELS).parent)
        replace_for_good(self.folder / QRELS, "".join([HEADER, *lines]).encode())
        replace_for_good(self.folder / QUERIES, "".join(texts).encode())


def decided_by_user(root: Path) -> str | None:
    """The system that the user's judgements of the run in the folder `root` decided for; None where they decided for
    none, and where there are none. Raises `ArtifactError` where what says so was changed."""
    file = root / FOLDER / DECISION
    decided = read_sealed(file, AGAIN).get("decided") if file.is_file() else None
    if decided is not None and not isinstance(decided, str):
        raise ArtifactError(f"{file} says decided = {decided!r}, which must be a name or null; {AGAIN}")
    return decided
