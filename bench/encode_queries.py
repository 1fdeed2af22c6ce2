"""Queries of a run, encoded by torch, by the graph in float32 and in 8 bits: how fast, how good, how alike.

    python -m bench.encode_queries RUN [--system NAME] [--queries 2000] [--passes 3] [--documents]

Prints JSON. Times are of one thread, from the text to the ten best documents at the run's operating point, the three
taking turns. Quality is that of the run's judged queries over the same index, by all of them and by a paired test
against torch; `same_ten`: the share of queries whose ten best documents are those of torch, and in the same order.
`--documents` encodes the judged documents, too, in 32 and in 8 bits, and measures every pairing of both sides.
Floors: the bytes of all matrices read once, and bare products of numpy with as many rows as a query has tokens.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.config import load_settings
from lexigraft.core.types import Document, Query, Ranking
from lexigraft.data.collection import Collection
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.store import open_index
from lexigraft.inference.folder import form_beside
from lexigraft.measure.compare import paired_test
from lexigraft.measure.measures import judgements, measure
from lexigraft.search.searcher import Searcher
from lexigraft.stages.collect import collected
from lexigraft.stages.layout import JUDGED, RunFolder, find_model
from lexigraft.stages.one_thread import one_thread
from lexigraft.stages.operating_point import OperatingPoint, read_operating_point
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vectors.model_queries import ModelQueryEncoder
from lexigraft.vectors.open_network import open_network
from lexigraft.vectors.prune import prune_row

DEPTH = 1000
FORMS = ("torch", "32 bits", "8 bits")


def open_form(model: Path, form: str) -> ModelQueryEncoder:
    if form == "torch":
        from lexigraft.model.encoder import open_encoder
        from lexigraft.model.torch_network import TorchNetwork

        return ModelQueryEncoder(TorchNetwork(open_encoder(model)))
    return ModelQueryEncoder(open_network(model, int(form.split()[0])))


def collection_of(run: RunFolder) -> tuple[Collection, str]:
    """(what a run measures on, the split it was asked for)."""
    kept = json.loads(run.settings.read_text())
    settings = load_settings(None, [])
    return collected(kept["source"], settings.data, run.collection)[JUDGED], kept["data"]["split"]


def judged_queries(run: RunFolder, n_most: int) -> tuple[list[Query], dict[str, dict[str, int]], str]:
    """The judged queries of a run, the first so many of them."""
    collection, wanted = collection_of(run)
    split = collection.evaluation_split(wanted)
    assert split is not None, "a run that was measured"
    judged = judgements(collection.qrels(split))
    queries = [query for query in collection.queries() if query.query_id in judged][:n_most]
    return queries, {query.query_id: judged[query.query_id] for query in queries}, split


def timed(asks: dict[str, Callable[[str], object]], texts: list[str], passes: int) -> dict[str, dict[str, float]]:
    taken: dict[str, list[float]] = {form: [] for form in asks}
    for ask in asks.values():
        for text in texts[:50]:
            ask(text)
    for _ in range(passes):
        for form, ask in asks.items():
            for text in texts:
                start = time.perf_counter()
                ask(text)
                taken[form].append(1e3 * (time.perf_counter() - start))
    return {
        form: {"p50": float(np.median(found)), "p99": float(np.quantile(found, 0.99)), "mean": float(np.mean(found))}
        for form, found in taken.items()
    }


def floors(model: Path, n_tokens: int) -> dict[str, float]:
    """Milliseconds to read the matrices once, and to multiply by them with numpy, on one thread."""
    from lexigraft.model.encoder import open_encoder

    encoder = open_encoder(model)
    body = [p.detach().numpy() for name, p in encoder.body.named_parameters() if p.ndim == 2 and "embed" not in name]
    matrices = [*body, encoder.head.weight.detach().numpy()]
    small = [np.ones(matrix.shape, np.int8) for matrix in matrices]

    def best(call: Callable[[], object]) -> float:
        found = []
        for _ in range(15):
            start = time.perf_counter()
            call()
            found.append(1e3 * (time.perf_counter() - start))
        return min(found)

    rows = {matrix.shape[1]: np.ones((n_tokens, matrix.shape[1]), np.float32) for matrix in matrices}
    return {
        "mib_32_bits": sum(matrix.nbytes for matrix in matrices) / 2**20,
        "read_32_bits_ms": best(lambda: [matrix.sum() for matrix in matrices]),
        "read_8_bits_ms": best(lambda: [matrix.view(np.int64).sum() for matrix in small]),
        "numpy_products_ms": best(lambda: [rows[matrix.shape[1]] @ matrix.T for matrix in matrices]),
        "tokens": n_tokens,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--system")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--timed", type=int, default=200)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--documents", action="store_true")
    given = parser.parse_args()
    run = RunFolder(given.run)
    contents = run.read_contents()
    system = given.system or next(name for name, home in contents.models.items() if home == "model")
    model = find_model(run.root / contents.models[system])
    point = read_operating_point(run, system)
    queries, judged, split = judged_queries(run, given.queries)
    texts = [query.text for query in queries]
    encoders = {form: open_form(model, form) for form in FORMS}
    result: dict[str, Any] = {
        "run": str(given.run), "system": system, "split": split, "queries": len(queries),
        "difference_of_weights": json.loads((form_beside(model) / "manifest.json").read_text())["notes"],
    }  # fmt: skip
    for label, (qk, dk) in {"operating point": (point.qk, point.dk), "whole vectors": (0, 0)}.items():
        result[label] = compared(run, system, (qk, dk), encoders, queries, judged)
    searcher = Searcher(open_index(run.index(JUDGED, system, point.dk)))

    def asking(encoder: ModelQueryEncoder) -> Callable[[str], object]:
        return lambda text: searcher.search(*prune_row(*encoder.encode(text), point.qk), 10)

    step = max(1, len(texts) // given.timed)
    with one_thread():
        result["text_to_ten_ids_ms"] = timed(
            {form: asking(encoder) for form, encoder in encoders.items()}, texts[::step], given.passes
        )
        lengths = [len(one.split()) + 2 for one in texts]
        result["floors"] = floors(model, round(float(np.mean(lengths))))
    if given.documents:
        result["documents"] = by_documents(run, model, point, encoders, queries, judged)
    print(json.dumps(result, indent=1))


def by_documents(
    run: RunFolder,
    model: Path,
    point: OperatingPoint,
    encoders: dict[str, ModelQueryEncoder],
    queries: list[Query],
    judged: dict[str, dict[str, int]],
) -> dict[str, Any]:
    """MRR@10 and R@10 at the operating point, with documents and queries in 32 and in 8 bits."""
    found: dict[str, Any] = {}
    rows = {form: encoders[form].encode_all([query.text for query in queries]) for form in FORMS[1:]}
    for form in FORMS[1:]:
        with TemporaryDirectory() as folder:
            vectors, index = Path(folder) / "vectors", Path(folder) / "index"
            description = {"kind": "model", "model": str(model), "fingerprint": ""}
            start = time.perf_counter()
            with write_artifact(vectors, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, {})) as draft:
                network = open_network(model, int(form.split()[0]))
                encode_with_model(documents_of(run), network, description, draft)
            seconds = time.perf_counter() - start
            opened = vectors_store.open_vectors(vectors)
            with write_artifact(index, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
                build_index(opened, draft, point.dk)
            searcher = Searcher(open_index(index))
            found[f"documents in {form}"] = {"texts_a_second": opened.matrix.n_rows / seconds}
            for asked in FORMS[1:]:
                rankings = [
                    searcher.search(*prune_row(*row, point.qk), DEPTH, query.query_id)
                    for query, row in zip(queries, rows[asked], strict=True)
                ]
                measured = measure(rankings, judged, ["MRR@10", "R@10"])
                found[f"documents in {form}"][f"queries in {asked}"] = {item.measure: item.mean for item in measured}
    return found


def documents_of(run: RunFolder) -> Iterator[Document]:
    return collection_of(run)[0].documents()


def compared(
    run: RunFolder,
    system: str,
    keep: tuple[float, int],
    encoders: dict[str, ModelQueryEncoder],
    queries: list[Query],
    judged: dict[str, dict[str, int]],
) -> dict[str, Any]:
    qk, dk = keep
    searcher = Searcher(open_index(run.index(JUDGED, system, dk)))
    found: dict[str, Any] = {"qk": qk, "dk": dk}
    rankings: dict[str, list[Ranking]] = {}
    per_query: dict[str, dict[str, float]] = {}
    for form, encoder in encoders.items():
        rows = encoder.encode_all([query.text for query in queries])
        rankings[form] = [
            searcher.search(*prune_row(*row, qk), DEPTH, query.query_id)
            for query, row in zip(queries, rows, strict=True)
        ]
        measured = measure(rankings[form], judged, ["MRR@10", "R@10"])
        per_query[form] = measured[0].per_query
        found[form] = {item.measure: item.mean for item in measured}
    for form in FORMS[1:]:
        pairs = list(zip(rankings[form], rankings["torch"], strict=True))
        found[form]["same_ten"] = float(np.mean([set(a.doc_ids[:10]) == set(b.doc_ids[:10]) for a, b in pairs]))
        found[form]["same_order"] = float(np.mean([a.doc_ids[:10] == b.doc_ids[:10] for a, b in pairs]))
        differences = [per_query[form][query] - per_query["torch"][query] for query in per_query["torch"]]
        found[form]["p"] = paired_test(differences).p
    return found


if __name__ == "__main__":
    main()
