"""A learned vocabulary on disk, and the head that is grafted from it."""

import numpy as np
import pytest
import torch

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.learn.new_model import grafted_head
from lexigraft.model.backbone import Backbone, Body
from lexigraft.vocab.lexicon import FORMAT_VERSION, KIND, learn, open_lexicon
from lexigraft.vocab.wordpiece import train_wordpiece
from tests.unit.vocab.test_aligned import TOKENIZER

DOCUMENTS = ["sort the ab ab", "ab sorts", "sorting"]


@pytest.fixture
def lexicon(tmp_path):
    with write_artifact(tmp_path / "v", Manifest(KIND, FORMAT_VERSION, {})) as folder:
        learn([*DOCUMENTS, "sort abs"], DOCUMENTS, TOKENIZER, 10, 1, "english", "english", folder)
    return open_lexicon(tmp_path / "v")


def test_what_the_corpus_says_of_its_terms(lexicon):
    assert list(lexicon.vocabulary.terms) == ["ab", "sort"]  # four occurrences each
    assert (lexicon.forms, lexicon.form_counts.tolist()) == (["ab", "abs", "sort", "sorting", "sorts"], [3, 1, 2, 1, 1])
    assert lexicon.forms_indptr.tolist() == [0, 2, 5]
    assert lexicon.document_frequency.tolist() == [2, 3]  # of documents; the query counts only as text
    assert (lexicon.n_documents, lexicon.mean_words) == (3, 7 / 3)
    assert lexicon.idf.tolist() == pytest.approx([np.log(1 + 1.5 / 2.5), np.log(1 + 0.5 / 3.5)])


def test_a_row_is_the_mean_of_its_forms_by_their_counts(lexicon):
    weight = torch.zeros(200, 1)
    weight[ord("a") + 10], weight[ord("b") + 10], weight[ord("s") + 10] = 2.0, 4.0, 9.0
    backbone = Backbone("letters", Body(torch.nn.Identity(), False), TOKENIZER, None, weight, torch.zeros(200))
    row = grafted_head(backbone, lexicon).weight[0].item()
    assert row == pytest.approx(0.75 * (2 + 4) / 2 + 0.25 * (2 + 4 + 9) / 3)


def test_a_tokenizer_of_the_corpus_is_the_same_again():
    texts = ["snake_case and camelCase words", "more words in snakes"] * 3
    first, second = (train_wordpiece(texts, 60).tokenizer.get_vocab() for _ in range(2))
    assert first == second
    assert {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "words"} <= set(first)
