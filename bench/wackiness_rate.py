"""How long Wackiness Scores of 10,000 inputs take over a vocabulary of 100,000 terms, and in how much memory.

    python -m bench.wackiness_rate [--documents 100000] [--inputs 10000] [--k 100] [--threads 2] [--out FILE.json]

Documents and queries are made (bench/collections.py, kind a: 40 terms a document). An input is a made query, whose ten
terms are its own, expanded by the 40 terms of a document. Its search and the count of its terms in what it finds are
measured together, then the ten draws of the curve. JSON is printed.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bench.collections import make
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.resources import measured
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.explain.wackiness import TextTerms, measure_importance, score_terms
from lexigraft.explain.wackiness_curve import area, curve, curve_runs
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.store import DocumentVectors

OWN_WEIGHT = 8  # of a query's terms, beside the 1..255 of what expands them


def as_matrix(rows: sp.csr_matrix, vocabulary: Vocabulary) -> SparseMatrix:
    """scipy's CSR as ours."""
    return SparseMatrix(
        [str(number) for number in range(rows.shape[0])], rows.indptr.astype(np.int64), rows.indices.astype(np.int32),
        rows.data.astype(np.float32), rows.shape[1], vocabulary.fingerprint,
    )  # fmt: skip


def as_counts(rows: sp.csr_matrix) -> TextTerms:
    """Weights as counts from 1 to 8: it is their number that takes time, not their size."""
    return TextTerms(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), (1 + rows.data // 32).astype(np.int32)
    )


def expanded(queries: sp.csr_matrix, documents: sp.csr_matrix) -> sp.csr_matrix:
    """Each query with the terms of a document."""
    rows = documents[np.arange(queries.shape[0]) % documents.shape[0]].astype(np.int32)
    both = (queries * OWN_WEIGHT + rows).tocsr()
    both.sort_indices()
    return both


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    made = make("a", options.documents, options.inputs)
    vocabulary = Vocabulary([f"t{number}" for number in range(made.documents.shape[1])])
    inputs, own = as_matrix(expanded(made.queries, made.documents), vocabulary), as_counts(made.queries)
    documents = as_counts(made.documents)
    with tempfile.TemporaryDirectory() as scratch:
        vectors = DocumentVectors(
            as_matrix(made.documents, vocabulary), [""] * options.documents, vocabulary, {"kind": "none"}, ""
        )
        path = Path(scratch) / "index"
        with write_artifact(path, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as folder:
            build_index(vectors, folder)
        searcher = Searcher(index_store.open_index(path))

        def find(terms: NDArray[np.int32], weights: NDArray[np.float32]) -> NDArray[np.int32]:
            return searcher.search_ordinals(terms, weights, options.k)[0]

        one = as_matrix(expanded(made.queries[:1], made.documents), vocabulary)
        measure_importance(one, as_counts(made.queries[:1]), documents, find)  # compiles
        with measured() as scoring:
            importance = measure_importance(inputs, own, documents, find, options.threads)
            scores = score_terms(importance, inputs.n_terms)
        with measured() as drawing:
            runs = curve_runs(importance, inputs.n_terms, 100, 10, 10_000, 0)
    found = {
        "documents": options.documents,
        "inputs": options.inputs,
        "terms": inputs.n_terms,
        "terms_a_document": float(np.diff(documents.indptr).mean()),
        "expansion_terms_an_input": len(importance.expansions.terms) / options.inputs,
        "k": options.k,
        "threads": options.threads,
        "seconds_to_score": scoring.seconds,
        "seconds_of_10_draws": drawing.seconds,
        "peak_mib_scoring": scoring.peak_rss_mib,
        "peak_mib_drawing": drawing.peak_rss_mib,
        "W-AUC": area(curve(scores.scores, 100)),
        "W-AUC_of_draws": float(runs.areas.mean()),
    }
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
