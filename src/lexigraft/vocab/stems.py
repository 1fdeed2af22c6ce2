"""Snowball stemmers by name: what makes "return", "returns" and "returned" one term."""

from collections.abc import Callable

from lexigraft.core.errors import MissingExtraError, SettingError

NO_STEMMER = "none"


def stemmer(language: str, setting: str) -> Callable[[str], str]:
    """The stem of a word in a Snowball language; "none" leaves words as they are. `setting` is for messages."""
    if language == NO_STEMMER:
        return str
    try:
        import Stemmer
    except ImportError as error:
        remedy = f"pip install PyStemmer, or set {setting}=none"
        raise MissingExtraError(f"{setting} = {language!r}", "PyStemmer", remedy) from error
    if language not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise SettingError(f"{setting} = {language!r} is not allowed: none, or one of {known}")
    # Its own cache is slower than none: whoever reads much asks once per distinct word anyway.
    stem_word: Callable[[str], str] = Stemmer.Stemmer(language, 0).stemWord
    return stem_word
