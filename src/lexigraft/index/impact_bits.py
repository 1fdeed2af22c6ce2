"""How many bits an impact has where nobody says it: `index.bits` = auto."""

from lexigraft.core.cut import DocumentCut
from lexigraft.core.settings import AUTO, IndexSettings
from lexigraft.vectors.store import DocumentVectors

USUAL, FINE = 8, 16


def impact_bits(settings: IndexSettings, vectors: DocumentVectors, keep: DocumentCut) -> int:
    """What `index.bits` says or, where it is auto, 16 for whole vectors of a learned model, whose many small weights 8
    bits would make equal, and 8 where vectors are cut to their heaviest terms, and for BM25."""
    if settings.bits != AUTO:
        return int(settings.bits)
    return FINE if keep == 0 and vectors.are_whole_of_a_model else USUAL
