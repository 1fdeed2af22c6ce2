"""A searcher with an overlap threshold and a second pass over the documents' full vectors around it."""

from pathlib import Path

from lexigraft.core.cut import QueryCut
from lexigraft.core.errors import ArtifactError
from lexigraft.search.overlap import OverlapSearcher
from lexigraft.search.searching import Searching
from lexigraft.search.two_step import TwoStepSearcher
from lexigraft.vectors.store import open_vectors


def refined(searcher: Searching, overlap: float, two_step: int, qk: QueryCut, vectors_path: Path | None) -> Searching:
    """`searcher` with a threshold and a second pass over so many candidates, or, where both are 0, itself. Where there
    is a second pass, it is to be given whole queries, of which the first gets what `qk` keeps."""
    if overlap:
        searcher = OverlapSearcher(searcher, overlap)
    if two_step:
        if vectors_path is None or not vectors_path.is_dir():
            where = "" if vectors_path is None else f", and there are none at {vectors_path}"
            raise ArtifactError(
                f"a two-step search ranks by the documents' full vectors{where}; give a run, which keeps them, or the "
                "vectors of an index with vectors=PATH"
            )
        searcher = TwoStepSearcher(searcher, open_vectors(vectors_path), two_step, qk)
    return searcher
