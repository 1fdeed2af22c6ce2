"""Languages that have a list of stop-words: all that have a Snowball stemmer."""

from lexigraft.core.settings.declaration import AUTO

ENGLISH, NONE = "english", "none"
LANGUAGES = (
    "arabic", "armenian", "basque", "catalan", "czech", "danish", "dutch", "esperanto", "estonian", "finnish",
    "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali",
    "norwegian", "persian", "polish", "portuguese", "romanian", "russian", "serbian", "sesotho", "spanish", "swedish",
    "tamil", "turkish", "yiddish",
)  # fmt: skip
STOPWORDS = {
    AUTO: "those of the stemmer's language; without a stemmer, English ones, or none where the language was guessed",
    ENGLISH: "Lucene's 33 English stop-words",
    NONE: "no word is one",
    **dict.fromkeys(LANGUAGES, ""),
}
# Stemmers that are not called by their language.
_LANGUAGE_OF_STEMMER = {"porter": ENGLISH, "lovins": ENGLISH, "dutch_porter": "dutch", NONE: ENGLISH}


OF_COLLECTION = (
    "that of the collection's language, guessed once from the beginnings of its first 4096 documents and kept; English "
    "where that is not sure, none where the language has no stemmer"
)


def stopwords_beside(stemmer: str, stopwords: str) -> str:
    """The stop-words that a setting means beside a stemmer: "auto" becomes a language, or none where its language has
    no list."""
    if stopwords != AUTO:
        return stopwords
    language = _LANGUAGE_OF_STEMMER.get(stemmer, stemmer)
    return language if language in STOPWORDS else NONE
