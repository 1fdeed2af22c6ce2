"""A corpus's own WordPiece, as a folder that anybody's tools read."""

import json

import numpy as np
import pytest
import transformers

from lexigraft.core.errors import InputError
from lexigraft.vocab.subwords import from_transformers
from lexigraft.vocab.tokenizer_files import open_tokenizer, write_tokenizer
from lexigraft.vocab.wordpiece import MOST_LETTERS, SPECIAL_TOKENS, train_wordpiece

TEXTS = [
    "Sort the list, then sort it again: os.path, snake_case.",
    "중복을 제거하고 순서를 유지합니다. 순서를",
    "日本語のテキスト、テキスト",
    "Сортировка списка. Списка!",
    "ترتيب القائمة، القائمة",
    "don't 3.14 1,000 O’Reilly soft\u00adhyphen ΟΔΟΣ",
] * 2


@pytest.fixture(scope="module")
def made():
    return train_wordpiece(TEXTS, 400)


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(made, folder)
    return folder


def test_transformers_loads_it(folder, made):
    loaded = transformers.AutoTokenizer.from_pretrained(folder)
    assert loaded.model_max_length == 512
    assert [loaded.pad_token, loaded.unk_token, loaded.cls_token, loaded.sep_token, loaded.mask_token] == list(
        SPECIAL_TOKENS
    )
    assert loaded.tokenize("SORT the List") == ["sort", "the", "list"]
    pair = loaded("sort", "list")
    assert loaded.convert_ids_to_tokens(pair["input_ids"]) == ["[CLS]", "sort", "[SEP]", "list", "[SEP]"]
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert loaded.convert_ids_to_tokens(list(range(len(lines)))) == lines
    assert len(lines) == made.tokenizer.get_vocab_size()
    assert loaded.decode(loaded("sort the list")["input_ids"], skip_special_tokens=True) == "sort the list"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("os.path; snake_case/Case", ["os", "path", "snake", "case", "case"]),
        ("DON’T 3.14, 1,000.", ["don't", "3.14", "1,000"]),
        ("순서를 유지합니다", ["순서를", "유지합니다"]),
        ("日本語のテキスト", ["日", "本", "語", "の", "テキスト"]),
        ("Сортировка, СПИСКА!", ["сортировка", "списка"]),
        ("القائمة، ترتيب", ["القائمة", "ترتيب"]),
        ("SOFT\u00adHYPHEN ΟΔΟΣ", ["softhyphen", "οδος"]),
    ],
)
def test_raw_text_is_cut_by_the_word_rule(made, text, words):
    assert made.tokenizer.encode(text, add_special_tokens=False).tokens == words


def test_words_are_spelt_whole(folder):
    """A word that would read differently without its neighbours is not read again."""
    subwords = from_transformers(transformers.AutoTokenizer.from_pretrained(folder), "ours")
    ids = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    assert subwords.spell(["sort's", "sort'"]) == [
        [ids["sort"], ids["##'"], ids["##s"]],
        [ids["sort"], ids["##'"]],
    ]


def test_counts_are_those_of_the_spelt_corpus():
    made = train_wordpiece(["aa aa ab", "aa b"], 5, min_count=3)
    pieces = made.tokenizer.get_vocab()
    assert set(pieces) == {*SPECIAL_TOKENS, "a", "b", "##a", "##b"}  # five were asked for, and every letter is one
    found = {piece: int(made.counts[number]) for piece, number in pieces.items() if made.counts[number]}
    assert found == {"a": 4, "##a": 3, "##b": 1, "b": 1}
    assert (made.n_distinct_words, made.coverage) == (3, 1.0)


def test_what_is_unknown_lowers_coverage():
    """Of more letters than can be pieces the rarest are unknown; a word of more than a hundred letters is, too."""
    made = train_wordpiece(["ok ok ok", "a" * 101], 50)
    assert made.coverage == 0.75
    assert made.counts[made.tokenizer.token_to_id("[UNK]")] == 1


def test_nothing_to_learn_from():
    for texts in ([], ["", "?!"]):
        with pytest.raises(InputError, match="no word in the corpus"):
            train_wordpiece(texts, 100)


def test_opened_again(folder, made):
    opened = open_tokenizer(folder)
    assert opened.special_ids == {0, 1, 2, 3, 4}
    assert np.array_equal(opened.counts, made.counts)
    assert opened.facts["coverage"] == 1.0


def test_a_list_of_pieces_is_read_as_bert_reads(tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[unused1]\n[UNK]\nhello\n##s\n", encoding="utf-8")
    opened = open_tokenizer(tmp_path)
    assert opened.special_ids == {0, 1, 2}
    assert opened.backend.encode("HELLOS you").tokens == ["hello", "##s", "[UNK]"]
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be read as a tokenizer"):
        open_tokenizer(tmp_path)


def test_more_letters_than_are_kept_give_the_same_pieces_every_time():
    """Of 1,500 letters that occur as often as each other, the same thousand are pieces."""
    texts = ["sort the list sort the list", " ".join(chr(0x4E00 + at) for at in range(1500))]
    made = [train_wordpiece(texts, 3000).tokenizer.get_vocab() for _ in range(3)]
    assert made[0] == made[1] == made[2]
    assert sum(len(piece) == 1 for piece in made[0]) == MOST_LETTERS
    assert {"sort", "the", "list"} <= set(made[0])
