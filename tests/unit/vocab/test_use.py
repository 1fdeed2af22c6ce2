"""What a collection makes of a vocabulary, worked out by hand."""

import pytest

from lexigraft.vocab import use
from lexigraft.vocab.opened import from_lexicon, from_tokenizer, from_words
from lexigraft.vocab.tokenizer_files import open_tokenizer
from lexigraft.vocab.use import measure_use
from tests.unit.vocab.test_lexicon import DOCUMENTS, lexicon  # noqa: F401 (a fixture)


def test_words():
    opened = from_words("list", ["Apple", "pear", "tree"])
    found = measure_use(opened, ["apple apple Pear", "pear tree kiwi", ""], ["apple kiwi", "pear tree pear"])
    assert (found.documents, found.queries) == (3, 2)
    assert found.term_counts.tolist() == [2, 2, 1]
    assert found.document_frequency.tolist() == [1, 2, 1]
    assert found.mean_document_terms == 5 / 3
    assert found.mean_distinct_document_terms == 4 / 3
    assert found.unknown_words == 1 / 6  # kiwi
    assert found.mean_query_terms == (1 + 3) / 2
    assert found.queries_with_a_split_word is None
    assert found.queries_with_an_unknown_word == 1 / 2
    assert found.mean_postings == (1 + (2 + 1)) / 2  # pear counts once


def test_pieces(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\napple\npear\ntree\n##s\nki\n")
    opened = from_tokenizer("pieces", open_tokenizer(tmp_path))
    found = measure_use(opened, ["apples pear", "pears trees", "kiwi"], ["apples", "pear tree", "kiwi pears"])
    assert found.term_counts.tolist() == [1, 2, 1, 3, 0]
    assert found.document_frequency.tolist() == [1, 2, 1, 2, 0]
    assert found.mean_document_terms == 7 / 3
    assert found.mean_distinct_document_terms == 6 / 3
    assert found.unknown_words == 1 / 5
    assert found.mean_query_terms == 6 / 3
    assert found.queries_with_a_split_word == 2 / 3
    assert found.queries_with_an_unknown_word == 1 / 3
    assert found.mean_postings == ((1 + 2) + (2 + 1) + (2 + 2)) / 3


def test_a_learned_vocabulary_passes_over_stop_words(lexicon):  # noqa: F811
    opened = from_lexicon("learned", lexicon, 1.0)
    assert opened.counts.tolist() == [4, 4]
    found = measure_use(opened, DOCUMENTS, ["the sorted zzz", "the"])
    assert found.term_counts.tolist() == [3, 3]
    assert found.mean_document_terms == 6 / 3
    assert found.unknown_words == 0
    assert found.mean_query_terms == (1 + 0) / 2
    assert found.queries_with_an_unknown_word == 1 / 2
    assert found.mean_postings == 3 / 2


def test_several_scripts(tmp_path):
    opened = from_words("list", ["순서를", "語", "список", "القائمة"])
    found = measure_use(opened, ["순서를 유지", "日本語の語", "СПИСОК", "القائمة، القائمة"], [])
    assert found.term_counts.tolist() == [1, 2, 1, 2]
    assert found.unknown_words == 4 / 10  # 유지 日 本 の
    assert (found.queries, found.mean_query_terms, found.mean_postings) == (0, None, None)


def test_batches_and_forgetting_change_nothing(monkeypatch):
    opened = from_words("list", [f"w{number}" for number in range(0, 60, 2)])
    documents = [f"w{number} w{number + 1} w{number % 7}" for number in range(50)]
    whole = measure_use(opened, documents, documents[:9])
    monkeypatch.setattr(use, "CHARACTERS_AT_ONCE", 40)
    monkeypatch.setattr(use, "MOST_PIECES", 5)
    parts = measure_use(opened, documents, documents[:9])
    for name, value in vars(whole).items():
        assert getattr(parts, name) == pytest.approx(value), name
