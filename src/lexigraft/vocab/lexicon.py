"""A learned vocabulary on disk: its terms and what its corpus says of them, all that grafting needs.

terms.*  forms.*                    string tables: the terms, and the words each stands for, term by term
forms_indptr.npy form_counts.npy    where a term's forms lie, and how often each occurs
document_frequency.npy              of each term
vocabulary.json                     the stemmer and the corpus's size, and counts for the eye
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.batching import batches
from lexigraft.vocab.counting import count_words
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.unigrams import UnigramVocabulary, build_unigrams

KIND, FORMAT_VERSION = "vocabulary", 2


@dataclass(frozen=True)
class Lexicon:
    """`forms[forms_indptr[t]:forms_indptr[t + 1]]` are the words that term t stands for."""

    vocabulary: Vocabulary
    stemmer: str
    stopwords: str
    forms: list[str]
    forms_indptr: NDArray[np.int64]
    form_counts: NDArray[np.int64]
    document_frequency: NDArray[np.int64]
    n_documents: int
    mean_words: float  # of a document

    @property
    def idf(self) -> NDArray[np.float64]:
        """ln(1 + (N - df + .5) / (df + .5)), as in BM25."""
        frequency = self.document_frequency
        idf: NDArray[np.float64] = np.log1p((self.n_documents - frequency + 0.5) / (frequency + 0.5))
        return idf


def learn(
    texts: Iterable[str],
    documents: Iterable[str],
    tokenizer: SubwordTokenizer,
    size: int,
    min_count: int,
    stemmer: str,
    stopwords: str,
    folder: Path,
) -> None:
    """Learn a vocabulary of `texts`, count in how many of the `documents` each term occurs, and write both into
    `folder`."""
    words = count_words(texts)
    learned = build_unigrams(words, size, tokenizer, min_count, stemmer, stopwords)
    reader = AlignedReader(tokenizer, learned.vocabulary, stemmer, stopwords)
    frequency, n_documents, n_words = _document_frequency(documents, reader)
    if not frequency.any():
        raise InputError(
            f"none of the {len(learned.vocabulary)} terms of the vocabulary occurs in the collection; learn it from "
            "texts like those that will be searched (vocab.source)"
        )
    forms = [form for family in learned.forms for form in family]
    write_strings(folder, "terms", learned.vocabulary.terms)
    write_strings(folder, "forms", forms)
    np.save(folder / "forms_indptr.npy", np.cumsum([0, *map(len, learned.forms)], dtype=np.int64))
    np.save(folder / "form_counts.npy", np.array([n for family in learned.forms for n in family.values()], np.int64))
    np.save(folder / "document_frequency.npy", frequency)
    write_json(
        folder / "vocabulary.json",
        {
            "stemmer": stemmer,
            "stopwords": stopwords,
            **_facts(learned, words.total(), n_documents, n_words, len(forms)),
        },
    )


def _facts(
    learned: UnigramVocabulary, n_occurrences: int, n_documents: int, n_words: int, n_forms: int
) -> dict[str, str | int | float]:
    return {
        "terms": len(learned.vocabulary),
        "forms": n_forms,
        "distinct_words": learned.n_distinct_words,
        "unspellable": learned.n_unspellable,
        "coverage": float(learned.counts.sum() / max(1, n_occurrences)),
        "documents": n_documents,
        "mean_words": n_words / max(1, n_documents) or 1.0,
        "fingerprint": learned.vocabulary.fingerprint,
    }


def _document_frequency(documents: Iterable[str], reader: AlignedReader) -> tuple[NDArray[np.int64], int, int]:
    """(documents with each term, documents, words)."""
    vocabulary = reader.vocabulary
    frequency, n_documents, n_words = np.zeros(len(vocabulary), np.int64), 0, 0
    for batch in batches(documents, len):
        bags = reader.read_bags(batch)
        frequency += np.bincount(bags.terms, minlength=len(vocabulary))
        n_documents += len(batch)
        n_words += int(bags.n_words.sum(dtype=np.int64))
    return frequency, n_documents, n_words


def open_lexicon(path: Path) -> Lexicon:
    open_artifact(path, KIND, FORMAT_VERSION)
    facts = json.loads((path / "vocabulary.json").read_text(encoding="utf-8"))
    return Lexicon(
        vocabulary=Vocabulary(list(StringTable(path, "terms"))),
        stemmer=facts["stemmer"],
        stopwords=facts["stopwords"],
        forms=list(StringTable(path, "forms")),
        forms_indptr=np.load(path / "forms_indptr.npy"),
        form_counts=np.load(path / "form_counts.npy"),
        document_frequency=np.load(path / "document_frequency.npy"),
        n_documents=facts["documents"],
        mean_words=facts["mean_words"],
    )
