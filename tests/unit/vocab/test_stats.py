"""The numbers of a vocabulary, worked out by hand."""

import numpy as np
import pytest

from lexigraft.vocab.opened import from_tokenizer, from_words
from lexigraft.vocab.stats import SCRIPTS, count_at_rank, describe, script_of, zipf_exponent
from lexigraft.vocab.tokenizer_files import open_tokenizer


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("sort", "Latin"),
        ("순서", "Hangul"),
        ("語", "Han"),
        ("テキスト", "Kana"),
        ("の", "Kana"),
        ("ー", "Kana"),
        ("список", "Cyrillic"),
        ("قائمة", "Arabic"),
        ("3.14", "digits only"),
        ("٣", "digits only"),
        ("3d", "Latin"),
        ("λόγος", "other"),
        ("'", "other"),
    ],
)
def test_script(text, script):
    assert script_of(text) == script


def test_a_list_of_words():
    opened = from_words("list", ["apple", "fig", "순서", "42"])
    found = describe(opened, np.array([4, 8, 1, 1]))
    assert (found.kind, found.terms, found.special_tokens) == ("words", 4, 0)
    assert found.mean_letters == (5 + 3 + 2 + 2) / 4
    assert found.scripts == {**dict.fromkeys(SCRIPTS, 0.0), "Latin": 0.5, "Hangul": 0.25, "digits only": 0.25}
    assert found.top == ["fig", "apple", "순서", "42"]  # equal counts stay in their order
    assert found.count_at_rank == {"1": 8, "last": 1}
    assert (found.forms, found.continuations, found.coverage) == (None, None, None)


def test_without_counts_nothing_is_said_of_them():
    found = describe(from_words("list", ["pear", "apple"]), None)
    assert (found.top, found.count_at_rank, found.zipf_exponent) == (["pear", "apple"], None, None)


def test_pieces_without_their_marks(tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\nki\n##wi\n##s\n나\n##무\n", encoding="utf-8")
    found = describe(from_tokenizer("pieces", open_tokenizer(tmp_path)), None)
    assert (found.kind, found.terms, found.special_tokens) == ("pieces", 5, 3)
    assert found.continuations == 3 / 5
    assert found.mean_letters == (2 + 2 + 1 + 1 + 1) / 5
    assert (found.scripts["Latin"], found.scripts["Hangul"]) == (3 / 5, 2 / 5)
    assert found.top == ["ki", "##wi", "##s", "나", "##무"]


def test_counts_at_ranks():
    assert count_at_rank(np.arange(1, 151)) == {"1": 150, "10": 141, "100": 51, "last": 1}


def test_zipf():
    assert zipf_exponent(np.array([4, 8])) == pytest.approx(1.0)
    assert zipf_exponent(np.array([5, 5, 5])) == pytest.approx(0.0)
    assert zipf_exponent(10**12 // np.arange(1, 3001) ** 2) == pytest.approx(2.0, abs=1e-3)
    assert zipf_exponent(np.array([7, 0, 0])) is None  # one term that occurs draws no line
