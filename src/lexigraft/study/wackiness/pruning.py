"""Pruning by wackiness: a third rule beside qk and dk, with what it costs and what is left of effectiveness.

The wackiest share of the terms is dropped from vectors whose texts do not hold them: of queries when they are encoded,
of documents when they are indexed, or of both.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.open_systems import OpenSystem
from lexigraft.core.arrays import open_array, release_pages
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.types import SparseMatrix
from lexigraft.explain.removal import remove_terms, wackiest_share
from lexigraft.explain.wackiness import TermScores, TextTerms, kept_indptr, mark_rows
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import Index
from lexigraft.index.store import open_index
from lexigraft.measure.cost import flops, mean_terms
from lexigraft.measure.ranks import RANK_MEASURES, RankJudge
from lexigraft.search.many import search_many
from lexigraft.search.searcher import Searcher
from lexigraft.stages.standalone import seen_from
from lexigraft.vectors.prune import prune
from lexigraft.vectors.rows_writer import RowsWriter
from lexigraft.vectors.store import DocumentVectors, row_ranges

REPORTED = ("MRR@10", "R@10", "nDCG@10")
SHARES = (0.1, 0.25, 0.5)


def drop_from_vectors(
    vectors: DocumentVectors, own: TextTerms, dropped: NDArray[np.integer], folder: Path
) -> DocumentVectors:
    """`vectors` without the terms `dropped`, where a document's text does not hold them: written to `folder` a part at
    a time, and mapped from there."""
    matrix = vectors.matrix
    is_dropped = np.zeros(matrix.n_terms, bool)
    is_dropped[dropped] = True
    with RowsWriter(folder) as writer:
        for start, end in row_ranges(matrix.indptr):
            rows = matrix.indptr[start : end + 1]
            terms = matrix.term_ids[rows[0] : rows[-1]]
            own_rows = own.indptr[start : end + 1]
            kept = ~is_dropped[terms] | mark_rows(rows, matrix.term_ids, own_rows, own.terms)
            weights = matrix.weights[rows[0] : rows[-1]][kept]
            writer.append_rows(kept_indptr(rows, kept)[1:], terms[kept], weights)
            release_pages(matrix.term_ids, matrix.weights, own.terms)
    rows, terms, values = (open_array(folder / f"{name}.npy") for name in ("indptr", "term_ids", "weights"))
    return replace(vectors, matrix=replace(matrix, indptr=rows, term_ids=terms, weights=values))


def index_without(system: OpenSystem, own: TextTerms, dropped: NDArray[np.integer], folder: Path, final: Path) -> None:
    """The index of a system's documents without the terms `dropped`, into `folder`, which will lie at `final`: it can
    be searched like any other."""
    with TemporaryDirectory(dir=folder.parent) as scratch:
        left = drop_from_vectors(system.vectors, own, dropped, Path(scratch))
        encoder = seen_from(final, left.query_encoder, system.vectors_path)
        build_index(replace(left, query_encoder=encoder), folder, settings=system.index_settings)


def pruning_rows(
    system: OpenSystem,
    queries: SparseMatrix,
    own_queries: TextTerms,
    judged: dict[str, dict[str, int]],
    own_documents: TextTerms,
    query_scores: TermScores,
    document_scores: TermScores,
    folder: Path,
    seed: int,
    threads: int,
    shares: Sequence[float] = SHARES,
) -> list[dict[str, Any]]:
    """One row a share and side: what FLOPS and effectiveness are left, beside the run's own prunings by weight. Pruned
    indexes: `folder`/documents-SHARE."""
    rows = [_row("nothing", 0.0, queries, system.index, judged, threads)]
    for qk, dk, index in system.pruned:
        by_weight = _row("by weight", 0.0, prune(queries, qk), open_index(index), judged, threads)
        rows.append(by_weight | {"qk": qk, "dk": dk})
    for share in shares:
        asked = remove_terms(queries, own_queries, wackiest_share(query_scores, share, seed)).matrix
        dropped = wackiest_share(document_scores, share, seed)
        path = folder / f"documents-{share:g}"
        config = {"rule": "wackiness", "share": share, "seed": seed, "terms": len(dropped)}
        parents = {"vectors": system.vectors.fingerprint}
        with write_artifact(path, Manifest(index_store.KIND, index_store.FORMAT_VERSION, config, parents)) as draft:
            index_without(system, own_documents, dropped, draft, path)
        pruned = open_index(path, checksums=False)
        rows.append(_row("from queries", share, asked, system.index, judged, threads))
        rows.append(_row("from documents", share, queries, pruned, judged, threads))
        rows.append(_row("from both", share, asked, pruned, judged, threads))
    return rows


def _row(
    side: str, share: float, queries: SparseMatrix, index: Index, judged: dict[str, dict[str, int]], threads: int
) -> dict[str, Any]:
    found = search_many(Searcher(index), queries, 10, threads)
    means = dict(zip(RANK_MEASURES, RankJudge(index, queries.row_ids, judged).measure(found).mean(axis=0), strict=True))
    return {
        "dropped": side,
        "share": share,
        "qk": 0,
        "dk": 0,
        "L0_q": mean_terms(queries.indptr),
        "L0_d": index.meta.n_postings / index.n_documents,
        "FLOPS": flops(queries, index),
        **{name: float(means[name]) for name in REPORTED},
    }
