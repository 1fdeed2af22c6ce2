"""RM3 worked out by hand: three documents, one query.

Terms 0 apple, 1 pear, 2 fig, 3 plum. Counts: d0 "apple apple pear", d1 "apple fig fig fig", d2 "plum". The query
"apple" scores 3 in d0 and 1 in d1 (the weights that the index is given, which 8 bits hold exactly), and does not
find d2.

    linear:  P(d0|q) = 3/4, P(d1|q) = 1/4
    P(apple|R) = 2/3 * 3/4 + 1/4 * 1/4 = 9/16      P(pear|R) = 1/3 * 3/4 = 4/16      P(fig|R) = 3/4 * 1/4 = 3/16
"""

import math

import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError, VocabularyMismatchError
from lexigraft.expand.rm3 import expanded_queries
from lexigraft.expand.settings import Rm3Settings
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.counts import TermCounts
from tests.conftest import index_of, sparse_matrix, vocabulary_of

APPLE, PEAR, FIG, PLUM = range(4)
WEIGHTS = [{APPLE: 3.0, PEAR: 1.0}, {APPLE: 1.0, FIG: 2.0}, {PLUM: 3.0}]
COUNTS = [{APPLE: 2, PEAR: 1}, {APPLE: 1, FIG: 3}, {PLUM: 1}]


def counts_of(rows, n_terms, row_ids=None):
    return TermCounts(
        row_ids=row_ids or [f"d{number}" for number in range(len(rows))],
        indptr=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        term_ids=np.array([term for row in rows for term in sorted(row)], np.int32),
        counts=np.array([row[term] for row in rows for term in sorted(row)], np.int32),
        lengths=np.array([sum(row.values()) for row in rows], np.int64),
        document_frequency=np.array([sum(term in row for row in rows) for term in range(n_terms)], np.int64),
        vocab_fingerprint=vocabulary_of(n_terms).fingerprint,
    )


@pytest.fixture
def searcher(tmp_path):
    return Searcher(index_of(sparse_matrix(WEIGHTS, 4), tmp_path / "index"))


def expanded(searcher, query, **settings):
    queries = sparse_matrix([query], 4, ["q"])
    found = expanded_queries(queries, searcher, counts_of(COUNTS, 4), Rm3Settings(**{"max_share": 1.0, **settings}))
    assert (found.row_ids, found.vocab_fingerprint) == (["q"], queries.vocab_fingerprint)
    return dict(zip(*(array.tolist() for array in found.row(0)), strict=True))


def test_the_two_best_terms(searcher):
    # Kept: apple 9/16, pear 4/16; together 13/16, so 9/13 and 4/13. Half of each, and half of the query's apple 1.
    assert expanded(searcher, {APPLE: 1.0}, fb_terms=2) == pytest.approx({APPLE: 22 / 26, PEAR: 4 / 26})


def test_all_terms_and_another_weight(searcher):
    # .8 of the query, where apple has 2 of 4 words and plum 2; .2 of 9/16, 4/16 and 3/16. Plum finds d2 with 6, apple
    # d0 with 6 and d1 with 2, so P(d|q) = 6/14, 2/14, 6/14:
    # apple 2/3 * 6/14 + 1/4 * 2/14 = 9/28, pear 1/3 * 6/14 = 4/28, fig 3/4 * 2/14 = 3/28, plum 6/14 = 12/28.
    found = expanded(searcher, {APPLE: 2.0, PLUM: 2.0}, original_weight=0.8)
    assert found == pytest.approx(
        {APPLE: 0.4 + 0.2 * 9 / 28, PEAR: 0.2 * 4 / 28, FIG: 0.2 * 3 / 28, PLUM: 0.4 + 0.2 * 12 / 28}
    )


def test_one_document(searcher):
    assert expanded(searcher, {APPLE: 1.0}, fb_docs=1) == pytest.approx({APPLE: 0.5 + 0.5 * 2 / 3, PEAR: 0.5 / 3})


def test_softmax(searcher):
    # P(d0|q) = e^3 / (e^3 + e) = 1 / (1 + e^-2).
    first = 1 / (1 + math.exp(-2))
    found = expanded(searcher, {APPLE: 1.0}, document_weights="softmax", original_weight=0.0)
    assert found == pytest.approx({APPLE: 2 / 3 * first + (1 - first) / 4, PEAR: first / 3, FIG: 0.75 * (1 - first)})


def test_words_of_many_documents_are_not_added(searcher):
    # Apple is in 2 of 3 documents: with at most half of them, pear 4/16 and fig 3/16 stay.
    found = expanded(searcher, {APPLE: 1.0}, max_share=0.5)
    assert found == pytest.approx({APPLE: 0.5, PEAR: 0.5 * 4 / 7, FIG: 0.5 * 3 / 7})
    assert expanded(searcher, {APPLE: 1.0}, max_share=0.1) == {APPLE: 1.0}  # nothing to add


def test_a_query_that_finds_nothing_stays_itself(tmp_path):
    searcher = Searcher(index_of(sparse_matrix([{APPLE: 1.0}, {PLUM: 1.0}, {PLUM: 1.0}], 4), tmp_path / "index"))
    assert expanded(searcher, {FIG: 3.0}) == {FIG: 3.0}
    assert expanded(searcher, {}) == {}


def test_what_does_not_fit_together(searcher):
    query = sparse_matrix([{APPLE: 1.0}], 4, ["q"])
    with pytest.raises(InputError, match="'d0' of the index is 'x' in the counts"):
        expanded_queries(query, searcher, counts_of(COUNTS, 4, ["x", "y", "z"]))
    with pytest.raises(InputError, match="the counts are of 1 documents or passages, the index of 3"):
        expanded_queries(query, searcher, counts_of(COUNTS[:1], 4))
    with pytest.raises(VocabularyMismatchError, match="the counts"):
        expanded_queries(query, searcher, counts_of(COUNTS, 5))
    for wrong in ({"fb_docs": 0}, {"fb_terms": 0}, {"original_weight": 1.1}, {"document_weights": "no"}):
        with pytest.raises(SettingError, match=next(iter(wrong))):
            Rm3Settings(**wrong)
