"""The words of a query that no term stands for: they find nothing, and a person should know."""

from collections.abc import Sequence

from lexigraft.retrieve.opened import Opened
from lexigraft.vocab.stopwords import stopwords
from lexigraft.vocab.words import word_spans

USUAL_STOPWORDS = "english"  # of a model, whose index does not say which it leaves out


def asked_words(state: Opened, text: str) -> list[str]:
    """The words of `text`, each once, in their order; stop-words, which are left out on purpose, are not among them."""
    spanned = word_spans(text)
    words: dict[str, str] = {}
    for start, end in spanned.spans:
        words.setdefault(spanned.text[start:end].lower(), spanned.text[start:end])
    stopped = stopwords(str(state.index.query_encoder.get("stopwords", USUAL_STOPWORDS)))
    return [word for key, word in words.items() if key not in stopped]


def unknown_words(state: Opened, text: str) -> list[str]:
    """Those of them that the vocabulary has no term for."""
    return [word for word in asked_words(state, text) if not len(state.own_terms(word))]


def said_of_unknown(words: Sequence[str]) -> str:
    """Which words find nothing, as a line; empty where all are known."""
    return f"the vocabulary does not know: {', '.join(words)}" if words else ""
