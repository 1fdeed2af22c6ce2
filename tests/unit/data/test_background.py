"""What is added to an evaluation set's corpus, and what is left out and counted."""

import logging

import pytest

from lexigraft.core.types import Document
from lexigraft.data.clicks.background import Added, Background
from lexigraft.data.collection import open_collection
from lexigraft.data.duplicates import FirstLines
from lexigraft.data.reading import Reading
from lexigraft.data.write import write_collection


@pytest.fixture
def collection_of(tmp_path):
    def make(name, *documents):
        write_collection(tmp_path / name, documents)
        return open_collection(tmp_path / name, Reading("keep"))

    return make


def test_what_is_there_is_left_out_and_counted(collection_of, caplog):
    first = collection_of(
        "first",
        Document("b1", "", "red  apple"),  # the words of a title that is there
        Document("d2", "", "a new text under a taken id"),
        Document("b3", "green", "pear"),
        Document("b3", "", "twice the id"),
        Document("b4", "", "green pear"),
        Document("p9", "", "whatever it says"),
        Document("b5", "", "known to be good"),
    )
    second = collection_of(
        "second", Document("c1", "", "a new text under a taken id"), Document("b3", "", "third time")
    )
    there = [Document("d1", "red apple", ""), Document("d2", "", "blue plum")]
    unjudged = [Document("p9", "known to be", "good")]
    background = Background([first, second], there, unjudged)
    with caplog.at_level(logging.WARNING):
        found = [(document.doc_id, document.contents) for document in background.documents()]
    # A text that was left out for its id is not there, so the second collection may bring it.
    assert found == [("b3", "green pear"), ("c1", "a new text under a taken id")]
    assert background.added == [
        Added("first", documents=7, added=1, same_text=2, same_id=2, unjudged_positives=2),
        Added("second", documents=2, added=1, same_id=1),
    ]
    assert "2 of 7 documents of the background first left out: their id is that of another text" in caplog.text
    assert "added nothing" not in caplog.text


def test_a_background_that_adds_nothing_says_so(collection_of, caplog):
    there = [Document(f"d{n}", f"title {n}", "") for n in range(3)]
    background = Background([collection_of("same", *there)], there)
    assert list(background.documents()) == []
    assert background.added[0].same_text == 3
    assert "the background same added nothing" in caplog.text


def test_what_came_is_known_and_asking_does_not_write_it_down():
    seen = FirstLines()
    for number in range(5000):  # several times as many as there is room for at first
        assert not seen.has(f"id{number}")
        assert not seen.has(f"id{number}")
        seen.first_lines([f"id{number}"], [number + 1])
    assert all(seen.has(f"id{number}") for number in range(5000))
    assert seen.count == 5000
