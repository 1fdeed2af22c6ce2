"""The rows of a local index, in the order of their ordinals, some at a time."""

from collections.abc import Iterator

from lexigraft.engines.engine import Description, Row
from lexigraft.index.inverted import Index
from lexigraft.index.metadata import Metadata
from lexigraft.index.rows import iterate_rows

AT_ONCE = 1 << 16  # rows that are read out of the lists together


def describe_index(index: Index, where: str, metadata: Metadata | None) -> Description:
    """What an engine is told of the index that it is loaded from."""
    meta = index.meta
    kinds = {} if metadata is None else {key: column.kind for key, column in metadata.columns.items()}
    return Description(
        index.fingerprint, where, meta.vocab_fingerprint, meta.n_terms, meta.n_documents, meta.scale, meta.bits,
        meta.passages, dict(meta.query_encoder), kinds,
    )  # fmt: skip


def batches_of(index: Index, metadata: Metadata | None, first: int, size: int) -> Iterator[list[Row]]:
    """Rows from `first` on, `size` at a time."""
    for start in range(first, index.n_documents, AT_ONCE):
        end = min(start + AT_ONCE, index.n_documents)
        read = iterate_rows(index, start, end)
        for begin in range(start, end, size):
            stop = min(begin + size, end)
            batch = []
            for ordinal in range(begin, stop):
                span = slice(read.indptr[ordinal - start], read.indptr[ordinal - start + 1])
                known = {} if metadata is None else metadata.of_row(index, ordinal)
                batch.append(
                    Row(index.doc_ids[ordinal], index.titles[ordinal], read.term_ids[span], read.impacts[span], known)
                )
            yield batch
