"""How many bits an impact has where nobody says it: `index.bits` = auto."""

from lexigraft.core.cut import DocumentCut
from lexigraft.core.encoder_description import BM25_KINDS
from lexigraft.core.settings import AUTO, IndexSettings
from lexigraft.vectors.store import DocumentVectors

USUAL, FINE = 8, 16


def impact_bits(settings: IndexSettings, vectors: DocumentVectors, keep: DocumentCut) -> int:
    """What `index.bits` says or, where it is auto, 16 for whole vectors of BM25, which 8 bits would make tie in most
    queries (docs/results/engines.md), and of a learned model, whose many small weights they would make equal; 8 where
    vectors are cut to their heaviest terms, or nobody knows whether they are."""
    if settings.bits != AUTO:
        return int(settings.bits)
    are_whole = vectors.query_encoder.get("kind") in BM25_KINDS or vectors.are_whole_of_a_model
    return FINE if keep == 0 and are_whole else USUAL
