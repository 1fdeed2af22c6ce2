"""Documents of the same text become one, and nothing that was judged is lost."""

from lexigraft.core.types import Document, Qrel
from lexigraft.data.collection import open_collection
from lexigraft.data.twins import find_twins, judge_first
from lexigraft.data.write import write_collection

DOCUMENTS = [
    Document("a", "", "bank"), Document("b", "", "shore"), Document("c", "", "bank"), Document("d", "bank", ""),
    Document("e", "", "bank"),
]  # fmt: skip


def test_twins_are_those_of_the_same_title_and_text():
    assert find_twins(DOCUMENTS) == {"c": "a", "e": "a"}


def test_judgements_follow_and_the_highest_counts():
    qrels = [Qrel("1", "c", 1), Qrel("1", "e", 2), Qrel("1", "b", 0), Qrel("2", "a", 1), Qrel("2", "c", 0)]
    found = judge_first(qrels, {"c": "a", "e": "a"})
    assert found == [Qrel("1", "a", 2), Qrel("1", "b", 0), Qrel("2", "a", 1)]


def test_convert(tmp_path, lexigraft):
    from lexigraft.core.types import Query

    write_collection(tmp_path / "in", DOCUMENTS, [Query("1", "money")], {"test": [Qrel("1", "e", 1)]})
    answer = lexigraft("data", "convert", tmp_path / "in", "--out", tmp_path / "out", "--merge-twins")
    assert "2 documents merged into others" in answer.stdout
    made = open_collection(tmp_path / "out")
    assert [document.doc_id for document in made.documents()] == ["a", "b", "d"]
    assert made.qrels("test") == [Qrel("1", "a", 1)]
