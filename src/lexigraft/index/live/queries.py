"""The encoder of a live index's queries, which of BM25 needs to know the documents that live."""

from pathlib import Path

from lexigraft.index.live.reader import LiveIndex
from lexigraft.index.live.state import STATE_FILE
from lexigraft.vectors.query_encoder import META, QueryEncoder, open_query_encoder


def open_live_encoder(index: LiveIndex, folder: Path) -> QueryEncoder:
    """The encoder of the queries to `index`, opened from `folder`: of a live index, or of a plain one as one segment.
    Where documents hold no IDF, it is that of the state that `index` is, whatever a writer does meanwhile."""
    said_in = STATE_FILE if index.generation else META
    return open_query_encoder(index.query_encoder, index.vocabulary, folder, index.frequencies, said_in=said_in)
