"""A pair that is judged twice with different grades, and grades that nothing could be measured by."""

import json
import logging

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Qrel
from lexigraft.data.collection import open_collection
from lexigraft.data.readers.judgements import read_judgements
from lexigraft.data.reading import Reading

TWICE = "query-id\tcorpus-id\tscore\nq\td\t1\nq\te\t2\nq\td\t3\nr\td\t0\nq\te\t2\n"


@pytest.fixture
def collection(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "tea"}\n{"_id": "e", "text": "milk"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "tea"}\n{"_id": "r", "text": "milk"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(TWICE)
    return tmp_path


def test_a_pair_with_two_grades_is_an_error_that_names_both_lines(collection):
    says = r"test\.tsv:4: document 'd' for query 'q' is judged 3, and 1 on line 2; .*skip"
    with pytest.raises(InputError, match=says):
        open_collection(collection).qrels("test")


def test_on_request_the_first_grade_counts_and_a_warning_counts_the_others(collection, caplog):
    with caplog.at_level(logging.WARNING):
        found = open_collection(collection, Reading(on_duplicate="skip")).qrels("test")
    assert found == [Qrel("q", "d", 1), Qrel("q", "e", 2), Qrel("r", "d", 0), Qrel("q", "e", 2)]
    assert "1 judgements dropped" in caplog.text and "on lines 2 and 4" in caplog.text


def test_the_same_in_tables_of_any_format(tmp_path):
    rows = [{"query_id": "q", "doc_id": "d", "score": score} for score in (1, 1, 0)]
    (tmp_path / "j.json").write_text(json.dumps(rows))
    with pytest.raises(InputError, match=r"j\.json, item 3: document 'd' .* judged 0, and 1 on item 1"):
        list(read_judgements(tmp_path / "j.json"))


@pytest.mark.parametrize("grade", ["3000000000", "-100001", "9" * 30, "9" * 5000, "1e3", "NaN", ""])
def test_a_grade_out_of_range_names_file_and_line(tmp_path, grade):
    (tmp_path / "qrels").write_text(f"q 0 c 100000\nq 0 d -100000\nq\td\t{grade}\n")
    with pytest.raises(InputError, match=r"qrels:3: the score .* not a whole number from -100,000 to 100,000") as found:
        list(read_judgements(tmp_path / "qrels"))
    assert len(str(found.value)) < 300


@pytest.mark.parametrize("grade", ["3000000000", "1e30", "1e400", "9" * 400, "NaN", "true", "null", "[1]", '"x"'])
def test_a_grade_in_a_table_out_of_range_names_file_line_and_field(tmp_path, grade):
    (tmp_path / "j.jsonl").write_text(f'{{"query_id": "q", "doc_id": "d", "score": {grade}}}\n')
    with pytest.raises(InputError, match=r"j\.jsonl:1: the relevance .* in field 'score' is not a whole number from"):
        list(read_judgements(tmp_path / "j.jsonl"))
