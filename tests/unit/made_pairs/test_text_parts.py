"""Parts of texts: what is found, and what is left without it."""

import pytest

from lexigraft.made_pairs.text_parts import headings, links, paragraphs, plain, sentences, title_in_text, without

PAGE = """# The page

Intro with a [link text](other/page.md "named") here. A second one follows!

## How to install `it`

```sh
# no heading
```

- a list item

| a | table |

### Closed ### { #anchor }
The end
"""


def said(spans):
    return [span.said for span in spans]


def test_sentences_end_at_full_stops_before_white_space_or_at_once_before_a_capital():
    text = "We measured the heat of slabs.Here it is shown that it rises! Is that so, we ask again"
    assert said(sentences(text)) == [
        "We measured the heat of slabs.", "Here it is shown that it rises!", "Is that so, we ask again",
    ]  # fmt: skip


def test_a_sentence_does_not_end_at_an_abbreviation_or_a_number():
    assert said(sentences("It is e.g. about 3.14 of them, i.e. few. The second has five words.")) == [
        "It is e.g. about 3.14 of them, i.e. few.", "The second has five words.",
    ]  # fmt: skip


def test_sentences_of_a_page_are_those_of_its_running_text():
    assert said(sentences(PAGE)) == [
        "Intro with a link text here.", "A second one follows!", "The end",
    ]  # fmt: skip


def test_paragraphs_end_at_headings():
    text = "one\n## two\nthree"
    assert [text[start:end] for start, end in paragraphs(text)] == ["one", "three"]


def test_headings_outside_of_code():
    assert said(headings(PAGE)) == ["The page", "How to install it", "Closed"]


def test_links_and_where_they_lead():
    text = "[one](a.md) ![image](b.png) [two](../c.md#part) [here](#place)"
    assert links(text) == [("one", "a.md"), ("two", "../c.md")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("**bold** and _slanted_", "bold and slanted"), ("snake_case * 2", "snake_case * 2"),
     ("p < .05 > 3", "p < .05 > 3"), ("<b>x</b> `y`", "x y"), ("[shown](a.md)", "shown")],
)  # fmt: skip
def test_plain(text, shown):
    assert plain(text) == shown


def test_without_parts():
    text = "one two three"
    first, second = next(sentences("one")), sentences(text)
    assert without(text, [first]) == "two three"
    assert without(text, list(second)) == ""


def test_a_title_that_the_text_repeats():
    assert [tuple(span)[:2] for span in title_in_text("The page", PAGE)] == [(0, 10)]
    assert [tuple(span)[:2] for span in title_in_text("Heat", " heat of slabs")] == [(1, 5)]
    assert title_in_text("", PAGE) == []
    assert title_in_text("slabs", "heat of slabs") == []
