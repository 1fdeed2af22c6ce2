"""A whole collection of made pairs: written, counted, held out, the same again."""

import json

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.made_pairs import making
from lexigraft.made_pairs.drops import MEASURED, NEAR_COPY, TOO_MANY
from lexigraft.made_pairs.making import CUT_OUT, DEV, TEST, TRAIN, PairMaker, given_pairs
from lexigraft.made_pairs.told import in_words, read_counts

N = 400


def page(number):
    own = " ".join(f"word{number * 12 + place}x" for place in range(12))
    return Document(f"d{number}.md", f"Title number{number}", f"{own}. More of topic{number % 9} stands here, too.")


def untitled(number, heading):
    return Document(f"d{number}.md", "", f"{heading}\n{page(number).text} {page(number + 5000).text}")


def write(folder, documents, queries=(), qrels=None):
    write_collection(folder, documents, queries, qrels)
    return open_collection(folder)


def made(collection, folder, seed=0, given=True):
    PairMaker(collection, seed, given_pairs(collection) if given else ()).write(folder)
    return open_collection(folder), read_counts(folder)


def test_the_made_collection_reads_as_any_other(tmp_path):
    pairs, counts = made(write(tmp_path / "texts", map(page, range(N))), tmp_path / "pairs")
    queries = {query.query_id: query.text for query in pairs.queries()}
    documents = {document.doc_id: document for document in pairs.documents()}
    assert pairs.splits == ("cut-out", "dev", "test", "train")
    assert len(documents) == N == counts["documents"]
    for split in (TRAIN, DEV, TEST):
        qrels = pairs.qrels(split)
        assert len({qrel.query_id for qrel in qrels}) == sum(counts["made"][split].values())
        for qrel in qrels:
            assert qrel.doc_id in documents
            if queries[qrel.query_id].startswith("Title"):
                assert documents[qrel.doc_id].title == ""
    assert counts["made"][DEV].keys() == {"title"}  # words that were cut out
    assert 0.08 * N < sum(counts["made"][DEV].values()) < 0.25 * N
    assert len(counts["examples"]["title"]) == 3


def test_what_learns_nothing_is_chosen_by_all_queries_that_were_cut_out(tmp_path, monkeypatch):
    texts = write(tmp_path / "texts", map(page, range(N)))
    pairs, counts = made(texts, tmp_path / "pairs")
    queries = {query.query_id: query.text for query in pairs.queries()}
    cut_out = {qrel.query_id for qrel in pairs.qrels(CUT_OUT)}
    measured = {qrel.query_id for qrel in pairs.qrels(TEST)}
    titles = {name for name, text in queries.items() if text.startswith("Title")}
    assert cut_out == titles - measured and measured <= titles  # also those that train
    assert {qrel.query_id for qrel in pairs.qrels(DEV)} < cut_out
    monkeypatch.setattr(making, "MOST_CUT_OUT", 50)
    fewer, same = made(texts, tmp_path / "fewer")
    some = {qrel.query_id for qrel in fewer.qrels(CUT_OUT)}
    assert some < cut_out and 25 < len(some) <= 50 and same == counts
    assert max(int(name.split(":")[1]) for name in some) > 0.8 * len(queries)  # evenly of all


def test_documents_that_are_held_out_do_not_train(tmp_path):
    pairs, _ = made(write(tmp_path / "texts", map(page, range(N))), tmp_path / "pairs")
    asked = [{qrel.doc_id for qrel in pairs.qrels(split)} for split in (TRAIN, DEV, TEST)]
    assert not asked[0] & asked[1] and not asked[0] & asked[2] and not asked[1] & asked[2]


def test_the_seed_decides(tmp_path):
    collection = write(tmp_path / "texts", map(page, range(N)))
    for name, seed in (("one", 0), ("again", 0), ("other", 1)):
        made(collection, tmp_path / name, seed)

    def contents(name):
        return [file.read_bytes() for file in sorted((tmp_path / name).rglob("*.*"))]

    assert contents("one") == contents("again")
    assert contents("one") != contents("other")


def test_near_copies_are_left_out_and_headings_of_many_documents_dropped(tmp_path):
    shared = [untitled(number, "## Release notes") for number in range(N, N + 40)]
    copies = [page(number)._replace(doc_id=f"copy{number}") for number in range(5)]
    pairs, counts = made(write(tmp_path / "texts", [*map(page, range(N)), *shared, *copies]), tmp_path / "pairs")
    assert counts["dropped"][NEAR_COPY] == 5
    assert counts["dropped"][TOO_MANY] == 1
    assert not any(document.doc_id.startswith("copy") for document in pairs.documents())
    assert "Release notes" not in {query.text for query in pairs.queries()}


def test_a_heading_of_several_documents_asks_for_all_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "DEV_SHARE", 0.1)
    shared = [untitled(number, "## Release notes") for number in range(N, N + 3)]
    trains = {one.doc_id for one in shared}
    monkeypatch.setattr(making, "_share", lambda _, name: 1.0 if name in trains else 0.15 if "7" in name else 0.05)
    monkeypatch.setattr("lexigraft.made_pairs.told.FEWEST_TRAINING", 1)
    pairs, _ = made(write(tmp_path / "texts", [*map(page, range(N)), *shared]), tmp_path / "pairs")
    (query_id,) = [query.query_id for query in pairs.queries() if query.text == "Release notes"]
    judged = [qrel.doc_id for qrel in pairs.qrels(TRAIN) if qrel.query_id == query_id]
    assert judged == [document.doc_id for document in shared]


def test_a_title_of_several_documents_is_asked_with_keywords_of_each(tmp_path):
    shared = [page(number)._replace(title="Release notes") for number in range(N, N + 30)]
    shared = [one._replace(text=f"{one.text} On {'abcdefghij'[at % 10] * 5} again.") for at, one in enumerate(shared)]
    pairs, _ = made(write(tmp_path / "texts", [*map(page, range(N)), *shared]), tmp_path / "pairs")
    asked = {query.text for query in pairs.queries() if query.text.startswith("Release notes")}
    assert len(asked) > 5
    assert all(len(text.split()) in (3, 4) for text in asked)


def test_links_ask_for_the_document_that_they_lead_to(tmp_path):
    before, _ = made(write(tmp_path / "before", map(page, range(N))), tmp_path / "pairs before")
    target = before.qrels(TRAIN)[0].doc_id
    linking = Document("folder/page.md", "", f"{page(900).text} See [everything about nine](../{target}#part).")
    pairs, counts = made(write(tmp_path / "texts", [*map(page, range(N)), linking]), tmp_path / "pairs")
    (query_id,) = [query.query_id for query in pairs.queries() if query.text == "everything about nine"]
    assert [qrel for qrel in pairs.qrels(TRAIN) if qrel.query_id == query_id] == [Qrel(query_id, target, 1)]
    assert counts["made"][TRAIN]["link"] == 1


def test_given_pairs_train_beside_made_ones_and_measured_queries_never(tmp_path):
    queries = [Query("g", "given words"), Query("both", "in both"), Query("t", "Title number7")]
    qrels = {
        "train": [Qrel("g", "d3.md", 1), Qrel("both", "d4.md", 1), Qrel("g", "d5.md", 0)],
        "test": [Qrel("t", "d7.md", 1), Qrel("both", "d4.md", 1)],
    }
    collection = write(tmp_path / "texts", map(page, range(N)), queries, qrels)
    pairs, counts = made(collection, tmp_path / "pairs")
    assert [qrel for qrel in pairs.qrels(TRAIN) if not qrel.query_id.startswith("made:")] == [Qrel("g", "d3.md", 1)]
    texts = {query.text for query in pairs.queries()}
    assert "given words" in texts and "in both" not in texts and "Title number7" not in texts
    assert counts["given"] == 1 and counts["dropped"][MEASURED] <= 1
    assert sum(counts["made"].get(TEST, {}).values()) < 0.05 * N  # nothing needs them: judged queries are measured
    assert not any(qrel.doc_id == "d3.md" for split in (DEV, TEST) for qrel in pairs.qrels(split))
    assert given_pairs(collection, "train") == []  # those that are measured do not train
    alone, _ = made(collection, tmp_path / "alone", given=False)
    assert all(query.query_id.startswith("made:") for query in alone.queries())


def test_too_few_pairs_are_refused_with_what_was_found(tmp_path):
    collection = write(tmp_path / "texts", map(page, range(20)))
    with pytest.raises(InputError, match=r"texts: 20 documents, \d+ queries were made to train .*200 are needed"):
        PairMaker(collection, 0).write(tmp_path / "pairs")


def test_of_a_large_collection_an_even_sample_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "MOST_DOCUMENTS_READ", N)
    collection = write(tmp_path / "texts", map(page, range(3 * N)))
    pairs, _ = made(collection, tmp_path / "pairs")
    assert [document.doc_id for document in pairs.documents()] == [f"d{number}.md" for number in range(0, 3 * N, 3)]


def test_of_many_queries_an_even_sample_trains_and_all_others_stay(tmp_path, monkeypatch):
    collection = write(tmp_path / "texts", map(page, range(N)))
    _, every = made(collection, tmp_path / "all")
    monkeypatch.setattr(making, "MOST_PAIRS", 300)
    _, some = made(collection, tmp_path / "some")
    assert 200 <= sum(some["made"][TRAIN].values()) <= 300 < sum(every["made"][TRAIN].values())
    assert some["made"][DEV] == every["made"][DEV]


def test_ids_with_spaces_and_texts_that_utf8_cannot_hold(tmp_path):
    documents = [page(number)._replace(doc_id=f"my notes/{number} b.md") for number in range(N)]
    (tmp_path / "texts").mkdir()
    lines = [json.dumps({"_id": one.doc_id, "title": one.title, "text": f"{one.text} \ud800"}) for one in documents]
    (tmp_path / "texts/corpus.jsonl").write_text("\n".join(lines))
    pairs, _ = made(open_collection(tmp_path / "texts"), tmp_path / "pairs")
    assert {qrel.doc_id for qrel in pairs.qrels(TRAIN)} <= {one.doc_id for one in documents}


def test_counts_in_words():
    counts = {
        "documents": 1204, "given": 0, "made": {"train": {"crop": 7, "title": 30}, "dev": {"title": 4}},
        "dropped": {"fewer than 2 words": 2}, "examples": {},
    }  # fmt: skip
    assert in_words(json.loads(json.dumps(counts))) == (
        "1,204 documents, 37 queries were made to train (30 titles, 7 crops) and 4 to choose by; "
        "dropped: 2 (fewer than 2 words)"
    )
