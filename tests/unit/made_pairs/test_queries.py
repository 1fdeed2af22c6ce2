"""Queries of a few words, worked out by hand, and what a document gives."""

import math
import random

import pytest

from lexigraft.core.types import Document
from lexigraft.made_pairs.drops import ALL_OF_IT, NO_CONTENT, TOO_SHORT, why_trivial
from lexigraft.made_pairs.near_copies import NearCopies
from lexigraft.made_pairs.of_document import made_of
from lexigraft.made_pairs.words_of_queries import WordUse, crop, keywords

USE = WordUse(100, {"heat": 10, "slab": 2, "flow": 40, "most": 90, "once": 1, "rate": 20, "x1": 5})
BODY = "Heat flows through the slab at a rate. It does so for as long as the slab is warm enough to flow."


class Always(random.Random):
    """A chance that always falls the same."""

    def __init__(self, share=0.0, number=0):
        super().__init__(0)
        self.share, self.number = share, number

    def random(self):
        return self.share

    def randint(self, low, high):
        return min(high, max(low, self.number))


def queries(document, chance=None, **options):
    made = made_of(document, USE, chance or Always(number=3), **options)
    return made.document, {query.kind: query.text for query in made.queries}


def test_idf_is_the_logarithm_of_one_over_the_share():
    assert USE.idf("heat") == pytest.approx(math.log(10))
    assert USE.idf("unseen") == pytest.approx(math.log(100))


def test_keywords_are_the_words_of_highest_tf_idf_in_their_order():
    # flow: 2 * ln(100/40) = 1.83; slab: ln 50 = 3.91; heat: ln 10 = 2.30; rate: ln 5 = 1.61.
    text = "the rate of flow, flow of heat, once most of the slab x1"
    assert keywords(text, USE, Always(number=2)) == "heat slab"
    assert keywords(text, USE, Always(number=3)) == "flow heat slab"


def test_a_crop_is_a_window_of_the_text():
    text = "a b c d e f g h"
    assert crop(text, Always(number=4)) == "e f g h"  # it begins at 4, as far as it can
    assert crop("a b", Always(number=9)) == "a b"
    assert crop("", Always()) == ""
    cropped = {crop(text, random.Random(seed)) for seed in range(50)}
    assert len(cropped) > 5
    assert all(one in text for one in cropped)


def test_a_title_asks_for_the_text_without_it():
    left, asked = queries(Document("d", "Of warm slabs", f"# Of warm slabs\n\n{BODY}"))
    assert asked["title"] == "Of warm slabs"
    assert left == Document("d", "", BODY)
    assert "sentence" not in asked


def test_a_title_that_others_have_or_that_says_little_is_asked_with_keywords():
    shared = queries(Document("d", "Of slabs", BODY), Always(number=1), shared=True)[1]
    assert shared["title"] == "Of slabs slab"
    assert queries(Document("d", "Warm", BODY), Always(number=2))[1]["title"] == "Warm heat slab"


def test_some_documents_keep_their_title():
    left, asked = queries(Document("d", "Of slabs", BODY), Always(share=0.8))
    assert left.title == "Of slabs"
    assert "title" not in asked
    assert {"crop", "keywords"} <= asked.keys()
    assert "title" in queries(Document("d", "Of slabs", BODY), Always(share=0.8), held_out=True)[1]


def test_without_a_title_the_first_sentence_asks_for_the_rest():
    left, asked = queries(Document("d", "", BODY))
    assert asked["sentence"] == "Heat flows through the slab at a rate."
    assert left.text == "It does so for as long as the slab is warm enough to flow."


def test_of_text_without_full_stops_the_first_words_ask_for_the_rest():
    left, asked = queries(Document("d", "", BODY.replace(".", "")))
    assert asked["sentence"] == "Heat flows through the slab"  # 5 is the fewest
    assert left.text.startswith("at a rate")


def test_of_a_long_sentence_its_keywords_or_a_crop():
    long = "the heat of the slab and the rate of the flow are those that most of us see"
    document = Document("d", "", f"{long}. {BODY}")
    assert queries(document, Always(share=0.1, number=2))[1]["sentence"] == "heat slab"
    assert queries(document, Always(share=0.9, number=4))[1]["sentence"] == "slab and the rate"


def test_headings_ask_for_the_text_without_them_short_ones_with_the_title():
    left, asked = queries(Document("d", "Slabs", f"# Slabs\n\n## Usage\n{BODY}"))
    assert asked["heading"] == "Slabs Usage"
    assert left == Document("d", "", BODY)


def test_a_short_document_gives_nothing_and_stays_whole():
    document = Document("d", "Of slabs", "warm")
    left, asked = queries(document)
    assert left == document
    assert asked == {}


@pytest.mark.parametrize(
    ("query", "text", "reason"),
    [("heat", "the slab", TOO_SHORT), ("of the most", "the slab", NO_CONTENT), ("heat slab", "Heat, slab!", ALL_OF_IT),
     ("heat slab", "a heat slab", "")],
)  # fmt: skip
def test_trivial_pairs(query, text, reason):
    assert why_trivial(query, Document("d", "", text), USE) == reason


def test_near_copies_are_found_and_others_are_not():
    words = [f"w{number}" for number in range(200)]
    known = NearCopies()
    assert not known.is_copy(words)
    assert known.is_copy(words)
    assert known.is_copy([*words[:100], "other", *words[100:]])
    assert not known.is_copy(words[::-1])
    assert not known.is_copy([f"v{number}" for number in range(200)])
    assert not known.is_copy(["short"])
    assert known.is_copy(["short"])
