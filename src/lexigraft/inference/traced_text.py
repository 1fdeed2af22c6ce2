"""The words of a text beside what they became: winning tokens as words that a person can find in the text."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import TermSource, TracedText
from lexigraft.inference.network import NOTHING, OWN_WORD, WHOLE_TEXT, Network
from lexigraft.inference.reading import ReadTexts
from lexigraft.vocab.reader import first_places
from lexigraft.vocab.words import SpannedText

WHOLE, UNKNOWN = TermSource("text", -1, "the whole text"), TermSource("unknown", -1, "")


def trace_text(network: Network, text: str, read: ReadTexts, terms: NDArray[np.int32]) -> TracedText:
    """What produced each of `terms` in `text`, its prompt included, of which the model reads the one row of `read`."""
    reader = network.reader
    positions = network.positions(read, terms).tolist()
    spanned = reader.spans(text)
    own = first_places(reader, text)

    def source(term: int, position: int) -> TermSource:
        if position == NOTHING:
            return UNKNOWN
        if position == WHOLE_TEXT:
            return WHOLE
        if position == OWN_WORD:
            place = own.get(term, -1)  # a word that the tokenizer makes nothing of has no place
            return TermSource("own", place, word_at(spanned, place) if place >= 0 else reader.vocabulary.terms[term])
        place = int(read.aligned.words[position])
        if place < 0:
            subword = int(read.aligned.subwords[position])
            return TermSource("special", -1, network.subword(subword))
        return TermSource("token", place, word_at(spanned, place))

    sources = {term: source(term, position) for term, position in zip(terms.tolist(), positions, strict=True)}
    return TracedText(spanned.text, spanned.spans, int(read.aligned.words.max(initial=-1)) + 1, sources)


def word_at(spanned: SpannedText, place: int) -> str:
    """The word at a place, as the text has it."""
    start, end = spanned.spans[place]
    return spanned.text[start:end]
