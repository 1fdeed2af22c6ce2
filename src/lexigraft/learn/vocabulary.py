"""What a model reads and names: texts to learn from, a vocabulary of their words, and a backbone made from scratch."""

import logging
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from lexigraft.core.settings import BackboneSettings, VocabSettings
from lexigraft.core.word_rule import WordRule
from lexigraft.data.collection import Collection
from lexigraft.learn.training_data import training_queries
from lexigraft.model import scratch
from lexigraft.model.backbone import load_backbone
from lexigraft.vocab.lexicon import adopt, learn
from lexigraft.vocab.lexicon import count_subwords as write_subwords

USUAL_RULE = WordRule()

log = logging.getLogger(__name__)


def make_backbone(
    collection: Collection, layers: int, seed: int, folder: Path, settings: BackboneSettings = scratch.USUAL
) -> None:
    """A tokenizer of the collection's own, or the one that the settings name, and an encoder for it, untrained."""
    scratch.make_backbone(texts_of(collection), layers, seed, folder, settings)


def texts_of(collection: Collection) -> Iterator[str]:
    """All that may be learned from without judgements: the documents, and the queries that train."""
    return chain((document.contents for document in collection.documents()), training_queries(collection))


def learn_vocabulary(
    collection: Collection,
    words_of: Collection,
    backbone: str,
    settings: VocabSettings,
    folder: Path,
    rule: WordRule = USUAL_RULE,
) -> None:
    """The most frequent terms that the backbone can spell: of the documents and the training queries, or of another
    collection. What the terms are worth is counted in the collection's own documents either way.

    Documents are what will be searched, so all of them count; of the queries, only those that train.
    """
    tokenizer = load_backbone(backbone, 1).tokenizer
    own = words_of is collection
    words = texts_of(collection) if own else (document.contents for document in words_of.documents())
    documents = (document.contents for document in collection.documents())
    said = settings.decided()
    wanted = said.size, said.min_count, said.stemmer, said.stopwords
    learn(words, documents, tokenizer, *wanted, folder, rule)


def adopt_vocabulary(collection: Collection, vocabulary: Path, backbone: str, folder: Path) -> None:
    """A vocabulary learned elsewhere, with what its terms are worth in the collection's documents."""
    documents = (document.contents for document in collection.documents())
    adopt(vocabulary, documents, load_backbone(backbone, 1).tokenizer, folder)


def count_subwords(collection: Collection, backbone: str, folder: Path) -> None:
    """The backbone's own subwords, the terms of a plain head, with what they are worth in the collection."""
    documents = (document.contents for document in collection.documents())
    write_subwords(documents, load_backbone(backbone, 1).subword_reader(), folder)
