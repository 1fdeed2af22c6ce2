from lexigraft.data.collection import open_collection
from lexigraft.data.reading import Reading
from lexigraft.data.stats import collection_stats


def test_every_count_by_hand(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "a", "title": "Same title", "text": "one two three"}\n'
        '{"_id": "b", "title": "Same title", "text": ""}\n'
        '{"_id": "c", "text": "only text"}\n'
        '{"_id": "a", "title": "again", "text": "a duplicate"}\n'
        '{"_id": "e", "text": " "}\n'
    )
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q", "text": "two words"}\n{"_id": "r", "text": "and four words here"}\n'
    )
    (tmp_path / "qrels" / "test.tsv").write_text("q\ta\t2\nq\tb\t1\nr\ta\t1\nq\tc\t0\nr\tc\t-1\ns\tc\t0\nu\tz\t1\n")
    found = collection_stats(open_collection(tmp_path, Reading("keep")))
    assert (found.records, found.duplicate_ids, found.documents) == (5, 1, 4)
    assert (found.unique_titles, found.empty_documents) == (1, 1)  # no title is none
    assert found.mean_document_words == (5 + 2 + 2 + 0) / 4
    assert found.mean_title_words == 1
    assert (found.queries, found.mean_query_words) == (2, 3)
    split = found.splits["test"]
    assert (split.pairs, split.queries, split.documents) == (4, 3, 3)
    assert split.unique_titles == 1  # of a and b; z is not there
    assert (split.documents_per_query, split.queries_per_document) == (4 / 3, 4 / 3)
    assert split.mean_query_words == 3
    assert (split.not_relevant, split.queries_without_positives) == (3, 1)
    assert (split.unknown_queries, split.unknown_documents) == (1, 1)
