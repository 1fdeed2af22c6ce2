from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.types import Document, document_of
from lexigraft.data.passages import cut_passages


def test_by_hand():
    found = list(cut_passages([Document("d", "T", "a b\nc  d e")], words=2, overlap=0))
    assert found == [Document("d#0", "T", "a b"), Document("d#1", "T", "c  d"), Document("d#2", "T", "e")]
    found = [d.text for d in cut_passages([Document("d", "", "a b c d e")], words=3, overlap=1)]
    assert found == ["a b c", "c d e"]
    assert list(cut_passages([Document("d", "T", " ")], 3, 0)) == [Document("d#0", "T", "")]


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 9), st.data())
def test_no_word_is_lost_and_none_is_too_long(words, length, data):
    overlap = data.draw(st.integers(0, length - 1))
    found = list(cut_passages([Document("x#y", "", " ".join(words))], length, overlap))
    cut = [d.text.split() for d in found]
    assert all(len(part) <= length for part in cut)
    assert [w for i, part in enumerate(cut) for w in part[overlap if i else 0 :]] == words
    assert {document_of(d.doc_id) for d in found} == {"x#y"}
