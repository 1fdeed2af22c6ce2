"""Documents in passages: the folded search is the maximum over passages, exactly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.types import passage_id
from lexigraft.explain.contributions import explain
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.search.topk import MANY
from tests.conftest import index_of, sparse_matrix

N_TERMS = 5
DOC_IDS = ("a", "a!", "a#", "b", "a#1")  # ids around "#" in the order of characters, and like a passage's


@st.composite
def passages(draw):
    rows = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 3).map(float), max_size=3)
    counts = [draw(st.integers(1, 4)) for _ in DOC_IDS]
    ids = [passage_id(doc_id, number) for doc_id, count in zip(DOC_IDS, counts, strict=True) for number in range(count)]
    return ids, [draw(rows) for _ in ids]


@given(passages(), st.integers(1, 7), st.sampled_from(METHODS))
def test_folding_is_the_maximum_over_passages(tmp_path_factory, drawn, k, method):
    ids, rows = drawn
    index = index_of(sparse_matrix(rows, N_TERMS, ids), tmp_path_factory.mktemp("i") / "index")
    index = replace(index, meta=replace(index.meta, passages=True))
    query = np.arange(N_TERMS, dtype=np.int32), np.ones(N_TERMS, np.float32)
    plain = Searcher(replace(index, meta=replace(index.meta, passages=False))).search(*query, k=len(ids))
    best: dict[str, float] = {}
    for identifier, score in zip(plain.doc_ids, plain.scores, strict=True):
        best.setdefault(identifier.rpartition("#")[0], score)
    wanted = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k]
    found = Searcher(index, method).search(*query, k=k)
    assert list(zip(found.doc_ids, found.scores, strict=True)) == wanted
    for doc_id, score in wanted:
        assert explain(index, *query, doc_id).score == score
        assert index.holds(doc_id)
    assert not index.holds("a#9")


@pytest.mark.parametrize("method", METHODS)
def test_folding_of_many_passages(tmp_path, method):
    """One document's passages fill more than the first depth, and more are found than compiled code sorts."""
    counts = {"a": 150, **{f"b{number:02d}": 2 for number in range(80)}}
    ids = [passage_id(doc_id, number) for doc_id, count in counts.items() for number in range(count)]
    rows = [{0: float(200 + number)} for number in range(50)] + [{0: 1.0 + n % 97} for n in range(len(ids) - 50)]
    index = index_of(sparse_matrix(rows, 1, ids), tmp_path / "i")
    index = replace(index, meta=replace(index.meta, passages=True))
    best: dict[str, float] = {}
    for identifier, row in zip(ids, rows, strict=True):
        doc_id = identifier.rpartition("#")[0]
        best[doc_id] = max(best.get(doc_id, 0.0), row[0])
    wanted = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    for k in (1, 3, MANY + 1, 81, 200):
        found = Searcher(index, method).search(np.zeros(1, np.int32), np.ones(1, np.float32), k)
        assert found.doc_ids == tuple(doc_id for doc_id, _ in wanted[:k])
        assert found.scores == pytest.approx([score for _, score in wanted[:k]], abs=index.meta.scale / 2 + 1e-6)
