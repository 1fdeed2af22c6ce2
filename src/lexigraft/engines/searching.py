"""A query's vector to documents, over an engine: whole numbers in, scores as the local engine has them out."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.core.types import document_of
from lexigraft.engines.backoff import with_retries
from lexigraft.engines.engine import Description, Engine, EngineHit
from lexigraft.search.conditions import Condition
from lexigraft.vectors.quantize import quantize_query

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


def search_engine(
    engine: Engine, description: Description, query: Row, k: int, where: Sequence[Condition] = ()
) -> list[EngineHit]:
    """The k best documents, ties by their id among those that the engine gave. Of a document in passages, the best one
    counts; how deep the k-th document lies is not known beforehand, so the engine is asked for twice as many until
    there are enough."""
    if k < 1:
        raise SettingError(f"k = {k} is not allowed: 1 or more")
    integers, scale = quantize_query(query[1], description.bits)
    terms = np.asarray(query[0], np.int32)[integers > 0]
    integers = integers[integers > 0]
    if not len(terms):
        return []
    depth = 2 * k if description.passages else k
    while True:
        found = with_retries(partial(engine.search, terms, integers, depth, where))
        best: dict[str, EngineHit] = {}
        for hit in found:
            name = document_of(hit.row_id) if description.passages else hit.row_id
            if name not in best or hit.score > best[name].score:
                best[name] = EngineHit(name, hit.score, hit.title)
        if len(best) >= k or len(found) < depth:
            ranked = sorted(best.values(), key=lambda hit: (-hit.score, hit.row_id))[:k]
            return [hit._replace(score=hit.score * (scale * description.scale)) for hit in ranked]
        depth *= 2
