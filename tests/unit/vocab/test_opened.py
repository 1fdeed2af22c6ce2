"""Tokenizers of other makes as vocabularies."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from lexigraft.vocab.compare import compare
from lexigraft.vocab.opened import UNKNOWN_TERM, from_tokenizer, from_words
from lexigraft.vocab.tokenizer_files import open_tokenizer

TEXTS = ["sort the list 순서를 sorting", "the list 순서를 sorted"] * 20


@pytest.fixture
def byte_level(tmp_path):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=120, special_tokens=["<s>", "<pad>"]))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return from_tokenizer("bytes", open_tokenizer(tmp_path))


def test_byte_level_pieces(byte_level):
    terms = byte_level.vocabulary.terms
    assert byte_level.mark == "Ġ"
    assert byte_level.n_special == 2
    assert not {"<s>", "<pad>"} & set(terms)
    [[whole], korean] = byte_level.spell(["list", "순서를"])
    assert (terms[whole], byte_level.word_of(terms[whole])) == ("Ġlist", "list")
    assert [byte_level.word_of(terms[number]) for number in korean] == ["순서를"]
    assert byte_level.word_of("ing") is None
    found = compare(byte_level, None, from_words("list", ["list", "순서를", "absent"]), None)
    assert (found.compared_as, found.shared) == ("words", 2)


def test_what_a_tokenizer_cannot_spell_is_unknown(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\nlist\n##s\n")
    opened = from_tokenizer("pieces", open_tokenizer(tmp_path))
    assert opened.spell(["lists", "sort"]) == [[0, 1], [UNKNOWN_TERM]]
