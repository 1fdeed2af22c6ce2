import json

import pytest
import Stemmer

from lexigraft.core.errors import SettingError
from lexigraft.core.settings import LexicalSettings, VocabSettings, WordsSettings
from lexigraft.core.settings.languages import LANGUAGES, STOPWORDS
from lexigraft.core.word_rule import FORMER_RULE, WordRule, rule_in
from lexigraft.vectors.analysis import Analyser, described, reading_in
from lexigraft.vocab.accents import fold_accents
from lexigraft.vocab.camel_case import is_code, mark_words
from lexigraft.vocab.stopwords import ENGLISH, stopwords
from lexigraft.vocab.terms import TermRule
from lexigraft.vocab.words import WordCutter, normalise

FOLDING, SPLITTING = WordRule(), WordRule(split_camel_case=True)


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Café", "cafe"), ("Ångström", "angstrom"), ("Łódź", "lodz"), ("smørrebrød", "smorrebrod"), ("Æsir", "aesir"),
        ("œuvre", "oeuvre"), ("Straße", "strasse"), ("đorđe", "dorde"), ("Þór", "thor"), ("İstanbul", "istanbul"),
        ("ταΐζω", "ταιζω"), ("ἄνθρωπος", "ανθρωπος"), ("x\u030cy", "xy"), ("Việt", "viet"),
        ("йод", "йод"), ("ёлка", "ёлка"), ("한국어", "한국어"), ("שָׁלוֹם", "שָׁלוֹם"), ("عَرَب", "عَرَب"), ("हिन्दी", "हिन्दी"),
        ("ภาษาไทย", "ภาษาไทย"), ("தமிழ்", "தமிழ்"), ("がぎ", "がぎ"),
    ],
)  # fmt: skip
def test_accents_of_latin_and_greek_letters_go_and_no_others(word, folded):
    assert fold_accents(normalise(word)) == normalise(folded)


def test_letters_that_a_stemmer_needs_stay_until_it_was_asked():
    french = TermRule("french", "none", FOLDING)
    assert french.cutter.split_words("Forêts de Łódź, naïvement") == ["forêts", "de", "lodz", "naïvement"]
    assert french.stem("forêts") == "foret"
    stem = Stemmer.Stemmer("german").stemWord
    german = TermRule("german", "none", FOLDING)
    assert german.stem("häuser") == fold_accents(stem("häuser")) == german.stem("haus")
    assert TermRule("english", "none", FOLDING).cutter.split_words("naïve cafés") == ["naive", "cafes"]


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parseHTTPResponse", "parse http response"), ("utf8Decode", "utf8 decode"), ("HTTP2Server", "http2 server"),
        ("snake_case", "snake case"), ("URLs", "urls"), ("getURLsToFetch", "get urls to fetch"), ("3D", "3d"),
        ("MAX_SIZE", "max size"), ("B2B", "b2b"), ("os.path.isDir", "os path is dir"), ("éTat", "é tat"),
        ("YouTube", "you tube"), ("plain", "plain"), ("Word", "word"), ("ABC", "abc"),
    ],
)  # fmt: skip
def test_camel_case(identifier, words):
    assert WordCutter(WordRule(False, True)).split_words(identifier) == words.split()


def test_names_in_prose_stay_whole():
    for name in ("McDonald", "YouTube", "PostgreSQL"):
        assert WordCutter(FOLDING).split_words(name) == [name.lower()]


def test_spans_of_identifiers_are_places_in_the_text_itself():
    text, spans = WordCutter(SPLITTING).spans("Call parseHTTPResponse_now, Café")
    words = [text[start:end] for start, end in spans]
    assert words == ["Call", "parse", "HTTP", "Response", "now", "Café"]


def test_what_is_code():
    code = ["def parse_args(argv): return argparse.parse(argv)", "The getValue() method of HashMap."]
    prose = ["YouTube is a site. " + "Words follow words, and none of them is an identifier here. " * 6] * 3
    assert is_code(code)
    assert not is_code(prose)
    assert not is_code([])
    assert not is_code(["An iPhone on YouTube"])
    assert is_code(iter(code * 3000))
    assert mark_words("") == ""


def test_every_stemmed_language_has_stop_words():
    stemmers = {"porter": "english", "dutch_porter": "dutch"}
    for language in Stemmer.algorithms():
        found = LexicalSettings(stemmer=language).decided().stopwords
        assert found == stemmers.get(language, language)
        assert len(stopwords(found)) >= 25, language
        assert len(TermRule(language, found, FOLDING).stopwords) >= 25, language
    assert set(LANGUAGES) | {"english"} == {stemmers.get(name, name) for name in Stemmer.algorithms()}
    assert stopwords("english") == ENGLISH
    assert "été" not in TermRule("none", "french", FOLDING).stopwords
    assert "ete" in TermRule("none", "french", FOLDING).stopwords
    assert {"für", "über"} <= TermRule("german", "german", FOLDING).stopwords


def test_stop_words_beside_a_stemmer():
    assert LexicalSettings().decided() == LexicalSettings(stemmer="english", stopwords="english")
    assert VocabSettings(stemmer="none").decided().stopwords == "english"
    assert VocabSettings(stemmer="german", stopwords="none").decided().stopwords == "none"
    analyser = Analyser(LexicalSettings(stemmer="german"))
    assert analyser.terms("Die Häuser und das Haus") == ["haus", "haus"]


def test_an_unknown_language_names_those_that_are_allowed():
    with pytest.raises(SettingError, match="one of auto, english, none, arabic"):
        LexicalSettings(stopwords="klingon")
    with pytest.raises(SettingError, match="german"):
        VocabSettings(stopwords="klingon")
    with pytest.raises(SettingError, match="yiddish"):
        stopwords("klingon")
    with pytest.raises(SettingError, match="auto, on, off"):
        WordsSettings(camel_case="perhaps")
    assert "english" in STOPWORDS


def test_an_undecided_rule_is_no_rule():
    with pytest.raises(SettingError, match="on' or 'off"):
        _ = WordsSettings().rule
    assert WordsSettings(camel_case="on").rule == SPLITTING


@pytest.mark.parametrize("rule", [FORMER_RULE, FOLDING, SPLITTING, WordRule(False, True)])
def test_a_description_keeps_the_rule(rule):
    stored = json.loads(json.dumps(described("bm25", LexicalSettings(), rule)))
    assert reading_in(stored) == (LexicalSettings(stemmer="english", stopwords="english"), rule)
    assert rule_in(rule.entry) == rule


def test_what_was_stored_without_a_rule_has_the_former_one():
    old = {"kind": "bm25", "k1": 1.2, "b": 0.75, "stopwords": "english", "stemmer": "english"}
    settings, rule = reading_in(old)
    assert rule == FORMER_RULE
    assert described("bm25", settings, rule) == old
    assert Analyser(settings, rule).terms("Café YouTube") == ["café", "youtub"]
