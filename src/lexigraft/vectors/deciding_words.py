"""How the texts of a collection are cut into words, where the settings leave that to the collection."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from lexigraft.core.settings import AUTO, WordsSettings
from lexigraft.core.types import Document
from lexigraft.vocab.camel_case import SAMPLED_DOCUMENTS, is_code


def decide_words(words: WordsSettings, documents: Iterable[Document]) -> WordsSettings:
    """`words` with `camel_case` on or off: as it is set, else by the first documents of the collection."""
    if words.camel_case != AUTO:
        return words
    return replace(words, camel_case="on" if is_code(document.contents for document in documents) else "off")


def decide_by_stream(words: WordsSettings, documents: Iterable[Document]) -> tuple[WordsSettings, Iterator[Document]]:
    """`decide_words` of documents that can be read only once, and all of them again."""
    stream = iter(documents)
    first = list(islice(stream, SAMPLED_DOCUMENTS)) if words.camel_case == AUTO else []
    return decide_words(words, first), chain(first, stream)
