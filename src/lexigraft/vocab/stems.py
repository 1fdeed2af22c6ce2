"""Snowball stemmers by name: what makes "return", "returns" and "returned" one term."""

from collections.abc import Callable

from lexigraft.core.errors import MissingExtraError, SettingError

NO_STEMMER = "none"

# Letters beyond a to z that belong to the alphabet of a language and so to the rules of its stemmer, which must see
# them with their accents. Languages of other scripts, and English, have none: all of their Latin letters may be folded.
OWN_LETTERS = {
    "basque": "ñç",
    "catalan": "àáèéíìïòóúüçñ",
    "czech": "áčďéěíňóřšťúůýž",
    "danish": "æøåé",
    "dutch": "äëïöüáéíóúèê",
    "dutch_porter": "äëïöüáéíóúèê",
    "esperanto": "ĉĝĥĵŝŭáéíóú",
    "estonian": "äöõüšž",
    "finnish": "äöåšž",
    "french": "àâæçéèêëîïôœùûüÿ",
    "german": "äöüß",
    "greek": "άέήίόύώϊϋΐΰ",
    "hungarian": "áéíóöőúüű",
    "irish": "áéíóú",
    "italian": "àáèéìíòóùú",
    "lithuanian": "ąčęėįšųūž",
    "norwegian": "æøåéêòôó",
    "polish": "ąćęłńóśźż",
    "portuguese": "àáâãçéêíóôõúü",
    "romanian": "ăâîșțşţ",
    "serbian": "čćđšž",
    "sesotho": "šêô",
    "spanish": "áéíñóúü",
    "swedish": "åäöé",
    "turkish": "çğıöşüâîû",
}


def own_letters(language: str) -> frozenset[str]:
    """The letters with accents that the stemmer of a language must see."""
    return frozenset(OWN_LETTERS.get(language, ""))


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
