"""How much is read of queries and documents: the rules on numbers worked out by hand, and BM25 over cut documents."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, Qrel, Query, Vocabulary
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection
from lexigraft.own_settings.cut_bm25 import Question, mrr_at_10, occurrences, read_documents
from lexigraft.own_settings.lengths import lengths_to_try, quantiles, query_length, smallest_good
from lexigraft.own_settings.looked_at import reading_curve, subwords_of
from lexigraft.vocab.aligned import AlignedReader
from tests.unit.vocab.test_aligned import TOKENIZER

HUNDRED = np.arange(1, 101)  # texts of 1 to 100 subwords


def test_query_length_holds_99_of_100_whole():
    assert query_length(HUNDRED, None) == 104  # 99 and two special ones, up to a multiple of 4
    assert query_length(np.array([3] * 99 + [50]), None) == 8  # 3 + 2, and never below 8
    assert query_length(np.array([11] * 100), None) == 16  # 13
    assert query_length(HUNDRED, 64) == 64  # what the backbone reads


def test_lengths_to_try_end_with_what_holds_nearly_all_whole():
    assert lengths_to_try(HUNDRED, None) == [16, 32, 64, 100]  # the 95th and two, up to a multiple of 4
    assert lengths_to_try(np.array([5] * 20), None) == [8]
    assert lengths_to_try(np.array([14] * 20), None) == [16]
    assert lengths_to_try(np.array([1000] * 20), None) == [16, 32, 64, 128, 256]
    assert lengths_to_try(np.array([1000] * 20), 50) == [16, 32, 50]


def test_the_shortest_within_five_thousandths_of_the_best_is_taken():
    assert smallest_good({16: 0.50, 32: 0.60, 64: 0.605, 128: 0.604}) == 32
    assert smallest_good({16: 0.50, 32: 0.60, 64: 0.6051}) == 64
    assert smallest_good({16: 0.7, 32: 0.6}) == 16
    assert smallest_good({16: 0.0}) == 16


def test_quantiles_are_lengths_that_texts_have():
    assert quantiles(HUNDRED) == {"p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99}


WORDS = ["ab", "cd", "efg", "h"]  # the tokenizer spells by letters: 2, 2, 3 and 1 subwords
READER = AlignedReader(TOKENIZER, Vocabulary(WORDS))
LENGTHS = [4, 5, 7, 16]
PLAIN = LexicalSettings(stopwords="none", stemmer="none")


def test_a_word_is_read_where_its_last_subword_and_the_end_fit_in():
    row, term, needs = occurrences(READER.read(["ab cd", "h ab h"], 16))
    assert row.tolist() == [0, 0, 1, 1, 1]
    assert [WORDS[number] for number in term] == ["ab", "cd", "h", "ab", "h"]
    assert needs.tolist() == [4, 6, 3, 5, 6]  # with the two special ones


def read_slowly(texts, length):
    """The terms that a reader cut to `length` sees of each text, one by one."""
    aligned = READER.read(texts, length)
    found = []
    for row in range(len(texts)):
        span = slice(aligned.indptr[row], aligned.indptr[row + 1])
        by_word = dict(zip(aligned.words[span].tolist(), aligned.terms[span].tolist(), strict=True))
        found.append([term for word, term in sorted(by_word.items()) if term >= 0])
    return found


def mrr_slowly(texts, questions, length):
    """BM25 from its formula, over all documents for each query."""
    read = read_slowly(texts, length)
    mean, total = max(1.0, sum(map(len, read)) / len(read)), 0.0
    for terms, wanted in questions:
        scores = []
        for own in read:
            score = 0.0
            for term in terms:
                tf, df = own.count(term), sum(term in other for other in read)
                idf = math.log1p((len(read) - df + 0.5) / (df + 0.5))
                score += idf * tf / (tf + PLAIN.k1 * (1 - PLAIN.b + PLAIN.b * len(own) / mean)) if tf else 0.0
            scores.append(score)
        ranking = sorted((row for row in range(len(read)) if scores[row] > 0), key=lambda row: (-scores[row], row))[:10]
        total += next((1 / (place + 1) for place, row in enumerate(ranking) if row in wanted), 0.0)
    return total / len(questions)


TEXT = st.lists(st.sampled_from(WORDS), min_size=0, max_size=8).map(" ".join)


@given(
    st.lists(TEXT, min_size=1, max_size=14),
    st.lists(st.tuples(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 13))), min_size=1, max_size=4),
    st.sampled_from(LENGTHS[1:]),
)
def test_bm25_over_cut_documents_is_the_slow_way(texts, asked, length):
    questions = [(sorted(terms), [row for row in sorted(wanted) if row < len(texts)]) for terms, wanted in asked]
    documents = read_documents(READER, texts, np.arange(4), LENGTHS)
    assert documents.subwords.tolist() == [len(text.replace(" ", "")) for text in texts]
    found = mrr_at_10(
        documents, length, [Question(np.array(t, np.int64), np.array(w, np.int64)) for t, w in questions], PLAIN
    )
    assert found == pytest.approx(mrr_slowly(texts, questions, length))


def test_reading_more_is_worth_what_stands_at_the_end(tmp_path):
    documents = [Document(f"d{n}", "", f"{'h ' * 9}{WORDS[n]}") for n in range(3)]
    queries = [Query(f"q{n}", WORDS[n]) for n in range(3)]
    write_collection(tmp_path / "c", documents, queries, {"train": [Qrel(f"q{n}", f"d{n}", 1) for n in range(3)]})
    collection = open_source(str(tmp_path / "c"))
    lengths = subwords_of(READER, [document.contents for document in collection.documents()])
    assert lengths.tolist() == [11, 11, 12]
    curve = reading_curve(collection, collection.qrels("train"), READER, [8, 16], PLAIN)
    assert curve.mrr == {8: 0.0, 16: 1.0}
    assert (curve.queries, curve.documents) == (3, 3)
