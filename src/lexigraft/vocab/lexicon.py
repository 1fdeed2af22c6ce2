"""A learned vocabulary on disk: its terms and what its corpus says of them, all that grafting needs.

terms.*  forms.*                    string tables: the terms, and the words each stands for, term by term
forms_indptr.npy form_counts.npy    where a term's forms lie, and how often each occurs
document_frequency.npy              of each term
vocabulary.json                     the word rule, the stemmer and the corpus's size, and counts for the eye
tokenizer.json                      where the terms are a backbone's subwords: what spells them; no forms then
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.encoder_description import wrong_in_rule
from lexigraft.core.errors import InputError
from lexigraft.core.pinned import of_one_version
from lexigraft.core.stored_record import COUNT, POSITIVE, Rule, read_object, require_fields
from lexigraft.core.types import Vocabulary
from lexigraft.core.validation import require_length, require_pointers, require_within
from lexigraft.core.word_rule import ENTRY, FORMER_RULE, WordRule, rule_in
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.batching import batches
from lexigraft.vocab.counting import count_words
from lexigraft.vocab.raw_reader import SubwordReader
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.stems import NO_STEMMER, own_letters
from lexigraft.vocab.stopwords import NO_STOPWORDS
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.unigrams import build_unigrams
from lexigraft.vocab.words import WordCutter

KIND, FORMAT_VERSION = "vocabulary", 2
A_RULE = Rule(lambda value: not wrong_in_rule(value), "a rule of words")
OF_FACTS = {"stemmer": str, "stopwords": str, "documents": COUNT, "mean_words": POSITIVE}
NOT_NEEDED = {"subwords": bool, ENTRY: A_RULE}  # facts of later formats than the first

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Lexicon:
    """`forms[forms_indptr[t]:forms_indptr[t + 1]]` are the words that term t stands for; there are none where
    `subwords` says that the terms are those of a backbone's tokenizer."""

    vocabulary: Vocabulary
    stemmer: str
    stopwords: str
    rule: WordRule
    forms: list[str]
    forms_indptr: NDArray[np.int64]
    form_counts: NDArray[np.int64]
    document_frequency: NDArray[np.int64]
    n_documents: int
    mean_words: float  # of a document
    subwords: bool = False

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
    rule: WordRule = FORMER_RULE,
) -> None:
    """Learn a vocabulary of `texts`, count in how many of the `documents` each term occurs, and write both into
    `folder`."""
    words = count_words(texts, cutter=WordCutter(rule, own_letters(stemmer)))
    count = partial(count_documents, documents)
    learn_of_counts(words, count, tokenizer, size, min_count, stemmer, stopwords, folder, rule)


def learn_of_counts(
    words: Counter[str],
    count: "CountDocuments",
    tokenizer: SubwordTokenizer,
    size: int,
    min_count: int,
    stemmer: str,
    stopwords: str,
    folder: Path,
    rule: WordRule = FORMER_RULE,
) -> None:
    """The same of words that are counted already; `count` counts terms in documents."""
    learned = build_unigrams(words, size, tokenizer, min_count, stemmer, stopwords, rule)
    if learned.n_unspellable:
        message = "%d terms are frequent enough and left out: the backbone's tokenizer cannot spell them"
        log.warning(message, learned.n_unspellable)
    facts: dict[str, Any] = {
        "stemmer": stemmer,
        "stopwords": stopwords,
        **rule.entry,
        "terms": len(learned.vocabulary),
        "forms": sum(map(len, learned.forms)),
        "distinct_words": learned.n_distinct_words,
        "unspellable": learned.n_unspellable,
        "coverage": float(learned.counts.sum() / max(1, words.total())),
        "fingerprint": learned.vocabulary.fingerprint,
    }
    forms = [form for family in learned.forms for form in family]
    indptr = np.cumsum([0, *map(len, learned.forms)], dtype=np.int64)
    counts = np.array([n for family in learned.forms for n in family.values()], np.int64)
    reader = AlignedReader(tokenizer, learned.vocabulary, stemmer, stopwords, rule)
    _write(facts, forms, indptr, counts, count, reader, folder)


def adopt(path: Path, documents: Iterable[str], tokenizer: SubwordTokenizer, folder: Path) -> None:
    """Take the vocabulary at `path` as it is, count its terms in other documents, and write both into `folder`."""
    old = open_lexicon(path)
    if old.subwords:
        raise InputError(f"{path}: its terms are subwords, not words; learn one with model.head grafted or random")
    facts = read_object(path / "vocabulary.json")
    spelt = np.array(tokenizer.can_spell(old.forms), np.int64)
    unspellable = np.flatnonzero(np.add.reduceat(spelt, old.forms_indptr[:-1]) < np.diff(old.forms_indptr))
    if len(unspellable):
        example = old.vocabulary.terms[int(unspellable[0])]
        raise InputError(
            f"{path}: {len(unspellable)} of {len(old.vocabulary)} terms (such as {example!r}) cannot be spelt by this "
            "backbone's tokenizer; learn the vocabulary with the same backbone"
        )
    reader = AlignedReader(tokenizer, old.vocabulary, old.stemmer, old.stopwords, old.rule)
    count = partial(count_documents, documents)
    _write(facts, old.forms, old.forms_indptr, old.form_counts, count, reader, folder)


def count_subwords(documents: Iterable[str], reader: SubwordReader, folder: Path) -> None:
    """Count in how many of the `documents` each subword of a backbone occurs, and write them as a vocabulary of words
    would be into `folder`."""
    facts: dict[str, Any] = {
        "stemmer": NO_STEMMER, "stopwords": NO_STOPWORDS, "subwords": True, "terms": len(reader.vocabulary),
        "fingerprint": reader.vocabulary.fingerprint,
    }  # fmt: skip
    nothing = np.zeros(0, np.int64)
    _write(
        facts,
        [],
        np.zeros(len(reader.vocabulary) + 1, np.int64),
        nothing,
        partial(count_documents, documents),
        reader,
        folder,
    )
    reader.save_tokenizer(folder / "tokenizer.json")


def _write(
    facts: dict[str, Any],
    forms: list[str],
    forms_indptr: NDArray[np.int64],
    form_counts: NDArray[np.int64],
    count: "CountDocuments",
    reader: TextReader,
    folder: Path,
) -> None:
    vocabulary = reader.vocabulary
    frequency, n_documents, n_words = count(reader)
    if not frequency.any():
        raise InputError(
            f"none of the {len(vocabulary)} terms of the vocabulary occurs in the collection; learn it from texts like "
            "those that will be searched (vocab.source)"
        )
    write_strings(folder, "terms", vocabulary.terms)
    write_strings(folder, "forms", forms)
    np.save(folder / "forms_indptr.npy", forms_indptr)
    np.save(folder / "form_counts.npy", form_counts)
    np.save(folder / "document_frequency.npy", frequency)
    counted = {"documents": n_documents, "mean_words": n_words / max(1, n_documents) or 1.0}
    write_json(folder / "vocabulary.json", {**facts, **counted})


class DocumentCounts(NamedTuple):
    """How many documents have each term, how many documents there are, and how many words they have."""

    frequency: NDArray[np.int64]
    n_documents: int
    n_words: int


CountDocuments = Callable[[TextReader], DocumentCounts]


def count_documents(documents: Iterable[str], reader: TextReader) -> DocumentCounts:
    """Count the terms of `reader`'s vocabulary in documents."""
    vocabulary = reader.vocabulary
    frequency, n_documents, n_words = np.zeros(len(vocabulary), np.int64), 0, 0
    for batch in batches(documents, len):
        bags = reader.read_bags(batch)
        frequency += np.bincount(bags.terms, minlength=len(vocabulary))
        n_documents += len(batch)
        n_words += int(bags.n_words.sum(dtype=np.int64))
    return DocumentCounts(frequency, n_documents, n_words)


@of_one_version
def open_lexicon(path: Path) -> Lexicon:
    open_artifact(path, KIND, FORMAT_VERSION)
    facts = read_object(path / "vocabulary.json")
    require_fields(path / "vocabulary.json", facts, OF_FACTS | NOT_NEEDED, needed=OF_FACTS)
    terms, forms = StringTable(path, "terms"), StringTable(path, "forms")
    pointers, counts, frequency = (
        np.array(open_array(path / f"{name}.npy", np.int64))
        for name in ("forms_indptr", "form_counts", "document_frequency")
    )
    terms.validate()  # always, whoever made them: all of them are read now
    forms.validate()
    require_pointers(path / "forms_indptr.npy", pointers, len(terms), len(forms))
    require_length(path / "form_counts.npy", len(counts), len(forms))
    require_length(path / "document_frequency.npy", len(frequency), len(terms))
    require_within(path / "document_frequency.npy", frequency, 0, facts["documents"] + 1)
    return Lexicon(
        vocabulary=Vocabulary(list(terms)),
        stemmer=facts["stemmer"],
        stopwords=facts["stopwords"],
        rule=rule_in(facts),
        forms=list(forms),
        forms_indptr=pointers,
        form_counts=counts,
        document_frequency=frequency,
        n_documents=facts["documents"],
        mean_words=facts["mean_words"],
        subwords=facts.get("subwords", False),
    )
