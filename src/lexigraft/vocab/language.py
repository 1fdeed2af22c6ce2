"""Which language texts are in, and so which stemmer and stop-words are theirs.

The script of the letters comes first. Where languages share it, the words decide: in running text a sixth to a half of
all words are a few dozen function words, other ones in every language. A word that several languages have counts for
each of them as its share. Where too little text is there, few of its words are known, or two languages come close, the
answer is that it is not sure.

The thresholds were chosen on the messages of GLib and GTK in 79 languages and variants: the 56 that have a list here
or a script of their own are told right; of the 23 others Malay passes for Indonesian and Gaelic for Irish.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import regex

from lexigraft.core.settings.languages import ENGLISH, LANGUAGES, NONE
from lexigraft.vocab import function_words
from lexigraft.vocab.words import split_words

WORDS_BY_SCRIPT = {
    "Latin": function_words.LATIN,
    "Cyrillic": function_words.CYRILLIC,
    "Arabic": function_words.ARABIC,
    "Devanagari": function_words.DEVANAGARI,
    "Hebrew": function_words.HEBREW,
}
ONLY_LANGUAGE = {"Greek": "greek", "Armenian": "armenian", "Tamil": "tamil", "Hangul": "korean", "Thai": "thai"}
DENSE, LETTERS_OF_A_SIGN = ("Chinese or Japanese", "Hangul"), 3  # a sign says as much as three letters of an alphabet
OTHER = "another one"
_SCRIPTS = {
    **{script: rf"\p{{Script={script}}}" for script in (*WORDS_BY_SCRIPT, *ONLY_LANGUAGE)},
    "Chinese or Japanese": r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]",
}
_LETTERS = {script: regex.compile(rf"(?:(?=\p{{L}}){letters})+") for script, letters in _SCRIPTS.items()}
_LETTER = regex.compile(r"\p{L}+")

MOST_WORDS = 50_000  # that are looked at
FEWEST_LETTERS = 40
FEWEST_WORDS = 4  # different function words of a language that must have been met
SMALLEST_SHARE = 0.08  # of all words, that are function words of the language
MUCH_TEXT, MOST_OF_A_LIST = 1000, 0.5  # in so many words, half of a language's list occurs
# Of the words that only one of two languages has, twice as many and four more must be those of the one that is named.
MARGIN, LEAD = 2, 4
ONE_SCRIPT = 2 / 3  # of all letters


@dataclass(frozen=True)
class Guess:
    """`language` is None where it is not sure, or of a script that is not looked into. `because`: what it goes by."""

    language: str | None
    because: str
    sure: bool = True

    @property
    def stemmer(self) -> str:
        """Snowball's for the language; without one, none; where nothing is sure, the default."""
        if not self.sure:
            return ENGLISH
        return self.language if self.language in (ENGLISH, *LANGUAGES) else NONE

    @property
    def stopwords(self) -> str:
        """The list of the same language."""
        return self.stemmer


def guess_language(texts: Iterable[str]) -> Guess:
    """The language of texts of one collection, by their scripts and function words."""
    beginnings = list(texts)
    letters = Counter({script: _count(found, beginnings) for script, found in _LETTERS.items()})
    letters[OTHER] = _count(_LETTER, beginnings) - letters.total()
    if letters.total() < FEWEST_LETTERS:
        return _unsure(f"{letters.total()} letters are too few to tell")
    for script in DENSE:
        letters[script] *= LETTERS_OF_A_SIGN
    (script, most), n_letters = letters.most_common(1)[0], letters.total()
    if most < ONE_SCRIPT * n_letters:
        parts = [f"{name} {count / n_letters:.0%}" for name, count in letters.most_common(3) if count]
        return _unsure(f"several scripts: {', '.join(parts)}")
    if script in ONLY_LANGUAGE:
        return Guess(ONLY_LANGUAGE[script], f"its script is {script}")
    if script not in WORDS_BY_SCRIPT:
        return Guess(None, f"its script is {script}")
    words = (part for text in beginnings for word in split_words(text) for part in word.split("'"))
    counted = Counter(islice(words, MOST_WORDS))
    if not counted:  # signs that count as letters of a script, and that normalising turns into marks
        return _unsure(f"its {n_letters} letters make no word")
    return _by_words(counted, WORDS_BY_SCRIPT[script])


def _count(pattern: "regex.Pattern[str]", texts: Iterable[str]) -> int:
    return sum(len(found) for text in texts for found in pattern.findall(text))


def _by_words(counted: Counter[str], lists: Mapping[str, str]) -> Guess:
    """The language whose function words are met most, each counted as one over the number of languages that have it,
    if it stands up to every other one by the words that only one of the two has."""
    members = {language: frozenset(words.split()) for language, words in lists.items()}
    languages_of = Counter(word for words in members.values() for word in words)
    evidence = {
        language: sum(counted[word] / languages_of[word] for word in words) for language, words in members.items()
    }
    best = max(evidence, key=lambda language: evidence[language])
    met = [word for word in members[best] if counted[word]]
    share = sum(counted[word] for word in met) / counted.total()
    said = f"{share:.0%} of {counted.total():,} words are function words of {best.title()}"
    much = counted.total() >= MUCH_TEXT and len(met) < MOST_OF_A_LIST * len(members[best])
    if len(met) < FEWEST_WORDS or share < SMALLEST_SHARE or much:
        return _unsure(f"only {share:.0%} of {counted.total():,} words are function words of the nearest language")
    words = members.pop(best)
    for other, theirs in members.items():
        ours_alone, theirs_alone = (sum(counted[word] for word in only) for only in (words - theirs, theirs - words))
        if ours_alone < MARGIN * theirs_alone + LEAD:
            return _unsure(f"too few words tell {best.title()} from {other.title()}")
    return Guess(best, said)


def word_options(guess: Guess, sections: Sequence[str]) -> list[str]:
    """The options that set the words of the settings `sections` (lexical, vocab) so; none for the defaults."""
    if guess.stemmer == ENGLISH:
        return []
    # Without a stemmer, stop-words would be English ones; with one, they are those of its language anyway.
    stopwords = [] if guess.stemmer != NONE else ["stopwords"]
    return [f"--set {section}.{key}={guess.stemmer}" for section in sections for key in ("stemmer", *stopwords)]


def _unsure(because: str) -> Guess:
    return Guess(None, because, sure=False)
