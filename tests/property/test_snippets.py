"""A snippet is the one that a slow search over all windows finds, and its words are those of the whole text."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexigraft.retrieve import matched_words, snippets
from lexigraft.retrieve.matched_words import MatchedWord, WordMatcher, WordReader
from lexigraft.retrieve.snippets import cut_snippet
from lexigraft.vocab.words import places_of_words

WORDS = ["cat", "dog's", "a", "3.14", "os.path", "Straße", "猫が", "ab_cd", "e\u0301te", "longestwordofall", "(fox)"]
WORDS += ["人々", "漢字か\u3099", "カタカナ", "a漢", "漢1.5"]
GAPS = [" ", "\n\n", ", ", "  ", "-", "", "\u00a0", "\u3000", "\t"]
TEXT = st.one_of(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=25).map(
        lambda parts: "".join(word + gap for word, gap in parts)
    ),
    st.text(max_size=60),
    st.text("漢字かが々ーカタa1.':_\"\u0301\u200d가 ", max_size=60),
    # without white space, and longer than what is looked at around a place
    st.lists(st.sampled_from([*WORDS, "-"]), min_size=1, max_size=8).map(lambda words: "".join(words) * 80),
)
TERM_OF = {
    word.lower(): number
    for number, word in enumerate([*WORDS, "path", "os", "cd", "dog", "fox", "猫", "が", "漢", "々"])
}
POINTS = st.dictionaries(st.sampled_from(sorted(TERM_OF.values())), st.integers(1, 5))


def terms_of(word):
    found = TERM_OF.get(word.lower())
    return [] if found is None else [found, 100]  # a term that no query has


def slow_words(text, points):
    """By the rule of words over the whole text at once."""
    found = ((start, end, terms_of(text[start:end])) for start, end in places_of_words(text))
    return [MatchedWord(start, end, (of[0],)) for start, end, of in found if of and of[0] in points]


def slow_window(words, points, width):
    """Of all windows that fit, the most points; then the smallest last word, then the smallest first one."""
    best = None
    for last, end in enumerate(words):
        for first in range(last + 1):
            if end.end - words[first].start > width and first < last:
                continue
            held = {term for word in words[first : last + 1] for term in word.terms}
            key = (-sum(points[term] for term in held), last, first)
            best = key if best is None else min(best, key)
    return best[2], best[1]


def slow_cut(text, words, points, width):
    """The snippet's place by the list of all places at which a text may be cut."""
    pieces, cut = [piece.span() for piece in re.finditer(r"\S+", text)], places_of_words(text)
    if words:
        first, last = slow_window(words, points, width)
        start, end = words[first].start, words[last].end
        if end - start >= width:
            return start, start + width
        low = max(0, start - (width - (end - start)) // 2)
        high = min(len(text), low + width)
        low = max(0, high - width)
    else:
        low = start = end = pieces[0][0] if pieces else len(text)
        high = min(len(text), start + width)
    starts = [at for at, _ in pieces if low <= at <= start] or [at for at, _ in cut if low <= at <= start] or [start]
    ends = [at for _, at in pieces if end <= at <= high] or [at for _, at in cut if end <= at <= high] or [high]
    return min(starts), max(ends)


@given(TEXT, POINTS, st.integers(1, 60))
@example("a cat and a dog's cat", {0: 3, 1: 3}, 9)
@example("longestwordofall cat", {9: 5, 0: 1}, 5)
@example("", {}, 10)
@example(" " * 30 + "cat " * 9, {}, 12)
def test_a_snippet_is_what_the_slow_way_finds(text, points, width):
    words = WordMatcher(points, WordReader(terms_of)).find(text)
    assert words == slow_words(text, points)
    snippet = cut_snippet(text, words, points, width)
    assert (snippet.start, snippet.end) == slow_cut(text, words, points, width)
    assert snippet.text == text[snippet.start : snippet.end] and len(snippet.text) <= width
    shown = [text[word.start : word.end] for word in words if snippet.start <= word.start < snippet.end]
    assert [snippet.text[start:end] for start, end in snippet.spans] == [word[:width] for word in shown]


@given(st.lists(TEXT, max_size=6), POINTS, POINTS, st.sampled_from([0, 1, 3, 1 << 16]), st.sampled_from([1, 4, 64]))
def test_what_was_read_before_changes_nothing(texts, points, others, most, longest):
    """Whether pieces are remembered, forgotten, or found by their terms: the words are those of the slow way."""
    reader = WordReader(terms_of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matched_words, "MOST_REMEMBERED", most)
        patch.setattr(matched_words, "LONGEST_REMEMBERED", longest)
        for text in texts:
            assert WordMatcher(others, reader).find(text) == slow_words(text, others)
            assert WordMatcher(points, reader).find(text) == slow_words(text, points)
        for text in texts:
            assert WordMatcher(points, reader).find(f"{text} {text}") == slow_words(f"{text} {text}", points)


@pytest.mark.integration
def test_many_threads_may_read_with_one_reader():
    words = [f"w{number}" for number in range(2000)]
    reader = WordReader(lambda word: [int(word[1:])] if word[1:].isdigit() else [])

    def look(first):
        text = " ".join(words[first:] + words[:first])
        return [len(WordMatcher({at, at + 1}, reader).find(text)) for at in range(0, 1998, 7)]

    with ThreadPoolExecutor(8) as pool:
        assert all(counts == [2] * 286 for counts in pool.map(look, range(0, 2000, 250)))


@given(TEXT, POINTS)
def test_pieces_are_remembered(text, points):
    matcher = WordMatcher(points, WordReader(terms_of))
    assert matcher.find(text) == matcher.find(text)
    assert matcher.find(f"{text} {text}")[: len(matcher.find(text))] == matcher.find(text)


def test_white_space_before_a_text_takes_no_room():
    snippet = cut_snippet(" " * 300 + "word " * 200, [], {}, 240)
    assert (snippet.start, snippet.end, len(snippet.text)) == (300, 539, 239)  # 48 words


def test_a_long_text_without_white_space_is_not_cut_as_a_whole(monkeypatch):
    """What the rule of words, which takes microseconds a character, is asked stays short."""
    lengths = []

    def counting(text):
        lengths.append(len(text))
        return places_of_words(text)

    monkeypatch.setattr(snippets, "places_of_words", counting)
    monkeypatch.setattr(matched_words, "places_of_words", counting)
    text = "漢字か" * 3000 + "猫" + "漢字か" * 3000
    points = {TERM_OF["猫"]: 1}
    words = WordMatcher(points, WordReader(terms_of)).find(text)
    assert [word[:2] for word in words] == [(9000, 9001)]
    assert lengths == [1] * 4  # one for each distinct sign
    assert cut_snippet(text, words, points, 240)[1:3] == (8881, 9121)
    assert len(cut_snippet(text, [], {}, 240).text) == 240
    assert sum(lengths) < 4 + 3 * (240 + 2 * snippets.MARGIN)
