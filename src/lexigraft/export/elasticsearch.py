"""Elasticsearch: terms as a `sparse_vector`, asked by the query of that name without pruning (8.15 on)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.progress import Progress
from lexigraft.export.engine_files.limits import require_lucene_bits, require_name
from lexigraft.export.engine_files.lucene_bulk import search_body, use_of, write_bulk, write_index, write_load
from lexigraft.export.engine_files.query_bodies import Weights, lost_queries, write_queries
from lexigraft.export.engine_files.stored_rows import StoredRows, odd_names
from lexigraft.export.engine_files.terms_as_keys import keys_of
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

ENGINE = "Elasticsearch"
MOST_CLAUSES = 1_024  # of a query, on the smallest servers; larger ones take more


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    """The index's mapping, bulk files, a script that loads them, and query bodies."""
    require_name(ENGINE, wanted.name)
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    require_lucene_bits(ENGINE, source.index)
    keys = keys_of(ENGINE, source.terms)
    rows = StoredRows(source, "writing rows", progress)
    write_index(folder, rows, {"type": "sparse_vector"}, {})
    parts = write_bulk(ENGINE, folder, rows, keys)
    write_load(folder, wanted.name)
    asked = write_queries(wanted, source, folder, lambda one: _body(one, keys, rows.of_passages), MOST_CLAUSES)
    return Exported(
        f"An index for Elasticsearch (sparse_vector, {parts.n_parts} bulk files)",
        [*rows.kept(), "weights and scores, exactly: impacts of 8 bits are within the 9 significant bits of a feature"],
        ["the order of documents with equal scores", *odd_names(rows.kinds), *lost_queries(asked)],
        use_of(wanted.name, _body({0: 255}, keys, rows.of_passages)),
        {"index": source.index.fingerprint},
        {**rows.facts(), "parts": parts.n_parts, "bytes": parts.n_bytes, **asked},
    )


def _body(weights: Weights, keys: Sequence[str], of_passages: bool) -> dict[str, Any]:
    """`prune` is said, because newer servers leave out frequent and light terms unless they are told not to."""
    vector = {keys[term]: weight for term, weight in weights.items()}
    return search_body({"sparse_vector": {"field": "terms", "query_vector": vector, "prune": False}}, of_passages)
