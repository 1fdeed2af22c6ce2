"""OpenSearch: terms as `rank_features`, which hold any vocabulary, asked by `neural_sparse` with weighted tokens.

`--form sparse_vector` writes the field type of that name (OpenSearch 3.3 on) instead, for vocabularies that it holds.
Its algorithm numbers terms modulo 32,768 and keeps the larger weight of two that collide: larger ones are refused.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.progress import Progress
from lexigraft.export.engine_files.bulk import write_vocabulary
from lexigraft.export.engine_files.limits import require_dimensions, require_lucene_bits, require_name
from lexigraft.export.engine_files.lucene_bulk import search_body, use_of, write_bulk, write_index, write_load
from lexigraft.export.engine_files.query_bodies import HITS, Weights, lost_queries, write_queries
from lexigraft.export.engine_files.stored_rows import StoredRows, odd_names
from lexigraft.export.engine_files.terms_as_keys import keys_of
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

ENGINE = "OpenSearch"
RANK_FEATURES, SPARSE_VECTOR = "rank_features", "sparse_vector"
MOST_IDS = 32_768  # that the algorithm of `sparse_vector` tells apart
MOST_CLAUSES = 1_024  # of a query, unless the server says otherwise (indices.query.bool.max_clause_count)
LARGEST_WEIGHT = 64  # of a feature in a query; Lucene refuses more
LARGEST_IMPACT = 255.0
DIVISOR = 4  # of a query's weights in a `sparse_vector`: 255 / 4 is below 64


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    """The index's mapping, bulk files, a script that loads them, and query bodies."""
    form = wanted.form or RANK_FEATURES
    require_name(ENGINE, wanted.name)
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    require_lucene_bits(ENGINE, source.index)
    keys = _keys(form, source, folder)
    rows = StoredRows(source, "writing rows", progress)
    write_index(folder, rows, _field(form), {"sparse": True} if form == SPARSE_VECTOR else {})
    parts = write_bulk(ENGINE, folder, rows, keys)
    write_load(folder, wanted.name)
    asked = write_queries(wanted, source, folder, lambda one: _body(form, one, keys, rows.of_passages), MOST_CLAUSES)
    return Exported(
        f"An index for OpenSearch ({form}, {parts.n_parts} bulk files)",
        [*rows.kept(), *_kept(form)],
        [*_lost(form), *odd_names(rows.kinds), *lost_queries(asked)],
        use_of(wanted.name, _body(form, {0: 64}, keys, rows.of_passages)),
        {"index": source.index.fingerprint},
        {**rows.facts(), "form": form, "parts": parts.n_parts, "bytes": parts.n_bytes, **asked},
    )


def _keys(form: str, source: Source, folder: Path) -> list[str]:
    """What a term is called: by itself, or by its number."""
    if form == RANK_FEATURES:
        return keys_of(ENGINE, source.terms)
    require_dimensions(f"{ENGINE}'s {SPARSE_VECTOR}", source.index.n_terms, MOST_IDS)
    write_vocabulary(folder, source.terms)
    return [str(term_id) for term_id in range(source.index.n_terms)]


def _field(form: str) -> dict[str, Any]:
    """Its ceilings are those weights that become the byte 255: so each whole number is a byte of its own."""
    if form == RANK_FEATURES:
        return {"type": RANK_FEATURES}
    ceilings = {"quantization_ceiling_ingest": LARGEST_IMPACT, "quantization_ceiling_search": LARGEST_IMPACT / DIVISOR}
    return {"type": SPARSE_VECTOR, "method": {"name": "seismic", "engine": "lucene", "parameters": ceilings}}


def _body(form: str, weights: Weights, keys: Sequence[str], of_passages: bool) -> dict[str, Any]:
    """Of `sparse_vector`, all terms are searched by, of which its own choice would be the ten heaviest."""
    least = DIVISOR if form == SPARSE_VECTOR else 1
    asked: dict[str, Any] = {"query_tokens": {keys[term]: weight for term, weight in scaled(weights, least).items()}}
    if form == SPARSE_VECTOR:
        asked["method_parameters"] = {"k": HITS, "top_n": len(weights)}
    return search_body({"neural_sparse": {"terms": asked}}, of_passages)


def scaled(weights: Weights, divisor: int = 1) -> dict[int, float]:
    """Weights that Lucene takes, 64 at most: divided by a power of two, which rounds nothing and ranks alike."""
    while max(weights.values(), default=0) > LARGEST_WEIGHT * divisor:
        divisor *= 2
    return {term: weight / divisor if divisor > 1 else weight for term, weight in weights.items()}


def _kept(form: str) -> list[str]:
    if form == RANK_FEATURES:
        return [
            "weights and scores, exactly: impacts of 8 bits are within the 9 significant bits of a feature. Scores "
            "of a query with a weight above 64, which Lucene refuses, are divided by 2 or 4"
        ]
    return ["weights, as bytes"]


def _lost(form: str) -> list[str]:
    ties = "the order of documents with equal scores"
    if form == RANK_FEATURES:
        return [ties]
    return [ties, "exactness in segments of more than 1,000,000 documents, where the algorithm (seismic) approximates"]
