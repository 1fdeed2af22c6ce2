"""Counting words: the same on one process and on several, and bounded."""

import logging
from collections import Counter

import pytest

from lexigraft.vocab import counting
from lexigraft.vocab.counting import count_words
from lexigraft.vocab.words import split_words

TEXTS = [
    "Sorting a list, sorted.",
    "don't 3.14 don’t",
    "중복을 제거하고 순서를",
    "слова и числа 12",
    "日本語のテキスト",
    "كلمات عربية",
    "a-b a_b",
    "\x00\x01a\x02",
]


def reference(texts):
    return Counter(word for text in texts for word in split_words(text))


@pytest.mark.parametrize("processes", [1, 2])
def test_the_words_of_the_rule_in_any_script_on_any_number_of_processes(monkeypatch, processes):
    monkeypatch.setattr(counting, "BATCH_CHARACTERS", 40)  # many batches, so that processes are started
    texts = [f"{text} {number}" for number in range(60) for text in TEXTS]
    assert count_words(iter(texts), processes) == reference(texts)


def test_what_hyphens_and_scripts_become():
    found = count_words(TEXTS)
    assert {"a": 4, "b": 2, "don't": 2, "3.14": 1, "слова": 1, "عربية": 1, "순서를": 1}.items() <= found.items()
    assert found["テキスト"] == 1
    assert "日" in found  # ideographs are words of their own, as Unicode's rule has it


def test_tables_that_fill_up_are_folded_and_nothing_is_lost(monkeypatch):
    monkeypatch.setattr(counting, "MOST_PIECES", 20)
    monkeypatch.setattr(counting, "BATCH_CHARACTERS", 50)
    texts = [f"word{number % 97} often" for number in range(500)]
    assert count_words(texts) == reference(texts)


def test_beyond_the_limit_rare_words_are_forgotten_and_that_is_said(monkeypatch, caplog):
    monkeypatch.setattr(counting, "MOST_PIECES", 20)
    monkeypatch.setattr(counting, "MOST_WORDS", 60)
    monkeypatch.setattr(counting, "BATCH_CHARACTERS", 100)
    texts = [f"once{number} often" for number in range(400)]
    with caplog.at_level(logging.WARNING):
        found = count_words(texts)
    low_by = int(caplog.messages[0].split()[-1])
    assert len(found) <= 60
    assert 400 - low_by <= found["often"] <= 400
