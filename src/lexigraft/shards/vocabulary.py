"""A vocabulary learned by shards: words are counted in each, terms chosen of all counts, and then counted in documents.

    .VOCABULARY.shards/texts        the documents
    .VOCABULARY.shards/words        the words of each shard, counted
    .VOCABULARY.shards/terms        the terms that were chosen of them
    .VOCABULARY.shards/documents    in how many documents of each shard they are

Counts are whole numbers, so their sums do not depend on the cut. One process forgets rare words beyond two million
distinct ones (`vocab.counting`); shards, which see fewer each, forget fewer.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.artifact import Manifest, open_artifact
from lexigraft.core.progress import Progress
from lexigraft.core.types import Vocabulary
from lexigraft.core.validation import require_length
from lexigraft.core.word_rule import WordRule
from lexigraft.data.collection import CORPUS
from lexigraft.learn.training_data import training_queries
from lexigraft.learn.unigrams import Learn, Learning
from lexigraft.model.backbone import load_backbone
from lexigraft.shards import texts as shard_texts
from lexigraft.shards.encoding import folder_of_shards
from lexigraft.shards.running import Where, make_shards
from lexigraft.shards.texts import OfTexts
from lexigraft.stages.ensure import keep_or_make
from lexigraft.vectors.encode import document_batches
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.counting import count_words
from lexigraft.vocab.lexicon import DocumentCounts, count_documents, learn_of_counts
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.stems import own_letters
from lexigraft.vocab.words import WordCutter

WORDS_KIND, TERMS_KIND, DOCUMENTS_KIND, FORMAT_VERSION = "words of a shard", "terms of shards", "terms of a shard", 1


@dataclass(frozen=True)
class _OfTexts(OfTexts):
    """What counts something in the documents of each shard of `texts`."""

    backbone: str
    stemmer: str
    stopwords: str
    rule: WordRule

    def _config(self, number: int) -> dict[str, object]:
        return {**self.place_of(number), "stemmer": self.stemmer, **self.rule.entry}

    def _contents(self, number: int) -> Iterator[str]:
        return (document.contents for batch in self.opened.read(self.cut[number]) for document in batch)


@dataclass(frozen=True)
class CountWords(_OfTexts):
    """How often each word occurs."""

    label: str = "counting words"

    def wanted(self, number: int) -> Manifest:
        parents = {"texts": self.opened.digest(self.cut[number])}
        return Manifest(WORDS_KIND, FORMAT_VERSION, self._config(number), parents)

    def make(self, number: int, folder: Path) -> None:
        found = count_words(self._contents(number), 1, WordCutter(self.rule, own_letters(self.stemmer)))
        words = sorted(found)
        write_strings(folder, "words", words)
        np.save(folder / "counts.npy", np.array([found[word] for word in words], np.int64))


@dataclass(frozen=True)
class CountTerms(_OfTexts):
    """In how many documents each of the terms at `terms` occurs; `fingerprint` is that of the vocabulary they are."""

    terms: Path = Path()
    fingerprint: str = ""
    label: str = "counting terms in documents"

    def wanted(self, number: int) -> Manifest:
        config = {**self._config(number), "stopwords": self.stopwords, "backbone": self.backbone}
        parents = {"texts": self.opened.digest(self.cut[number]), "terms": self.fingerprint}
        return Manifest(DOCUMENTS_KIND, FORMAT_VERSION, config, parents)

    def make(self, number: int, folder: Path) -> None:
        open_artifact(self.terms, TERMS_KIND, FORMAT_VERSION)
        vocabulary = Vocabulary(list(StringTable(self.terms, "terms")))
        tokenizer = load_backbone(self.backbone, 1).tokenizer
        reader = AlignedReader(tokenizer, vocabulary, self.stemmer, self.stopwords, self.rule)
        frequency, n_documents, n_words = count_documents(self._contents(number), reader)
        np.save(folder / "frequency.npy", frequency)
        np.save(folder / "sums.npy", np.array([n_documents, n_words], np.int64))


def learn_by_shards(where: Where) -> Learn:
    """What `learn.unigrams.make_unigrams` learns by, for work that is done in shards."""

    def learn(learning: Learning, folder: Path, progress: Progress) -> None:
        collection, backbone, settings, rule, out = learning
        hidden = folder_of_shards(out)
        wanted = Manifest(
            shard_texts.KIND, shard_texts.FORMAT_VERSION, {"of": "vocabulary"}, {"corpus": collection.digest(CORPUS)}
        )

        def write(texts: Path) -> None:
            documents = progress.track(collection.documents(), "reading documents", collection.about_how_many())
            shard_texts.write_texts(document_batches(documents), texts)

        keep_or_make(hidden / "texts", wanted, write)
        shared = where.shards, backbone, settings.stemmer, settings.stopwords, rule
        counting = CountWords(hidden / "texts", hidden / "words", *shared)
        words = joined_words(make_shards(counting, where, progress))
        words.update(count_words(training_queries(collection), 1, WordCutter(rule, own_letters(settings.stemmer))))

        def count(reader: TextReader) -> DocumentCounts:
            terms = reader.vocabulary
            named = Manifest(TERMS_KIND, FORMAT_VERSION, {"fingerprint": terms.fingerprint})
            keep_or_make(hidden / "terms", named, lambda draft: write_strings(draft, "terms", terms.terms))
            work = CountTerms(
                hidden / "texts", hidden / "documents", *shared, terms=hidden / "terms", fingerprint=terms.fingerprint
            )
            return joined_counts(make_shards(work, where, progress), len(terms))

        said = settings.size, settings.min_count, settings.stemmer, settings.stopwords
        learn_of_counts(words, count, load_backbone(backbone, 1).tokenizer, *said, folder, rule)
        shutil.rmtree(hidden)

    return learn


def joined_words(shards: Sequence[Path]) -> Counter[str]:
    """How often each word occurs in all shards."""
    words: Counter[str] = Counter()
    for shard in shards:
        open_artifact(shard, WORDS_KIND, FORMAT_VERSION)
        table, counts = StringTable(shard, "words"), open_array(shard / "counts.npy", np.int64)
        require_length(shard / "counts.npy", len(counts), len(table))
        for word, count in zip(table, counts.tolist(), strict=True):
            words[word] += count
    return words


def joined_counts(shards: Sequence[Path], n_terms: int) -> DocumentCounts:
    """In how many documents of all shards each term is."""
    frequency, sums = np.zeros(n_terms, np.int64), np.zeros(2, np.int64)
    for shard in shards:
        open_artifact(shard, DOCUMENTS_KIND, FORMAT_VERSION)
        found, of_shard = (open_array(shard / f"{name}.npy", np.int64) for name in ("frequency", "sums"))
        require_length(shard / "frequency.npy", len(found), n_terms)
        require_length(shard / "sums.npy", len(of_shard), 2)
        frequency += found
        sums += of_shard
    return DocumentCounts(frequency, int(sums[0]), int(sums[1]))
