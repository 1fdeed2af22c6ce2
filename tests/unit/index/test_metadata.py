import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.index import metadata as store
from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.metadata import documents_in_order, open_metadata
from lexigraft.index.metadata_columns import ColumnsBuilder
from lexigraft.index.metadata_row import values_at
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from tests.conftest import index_of, sparse_matrix
from tests.live import live_of, vectors_of


def index_named(ids, folder):
    return index_of(sparse_matrix([{0: 1.0}] * len(ids), 1, ids), folder)


def written(index, records, folder):
    builder = ColumnsBuilder(documents_in_order(index))
    builder.add(records)
    with write_artifact(folder, Manifest(store.KIND, store.FORMAT_VERSION, {})) as draft:
        builder.write(draft)
    return open_metadata(folder, index)


def test_kinds_of_columns(tmp_path):
    index = index_named(["b", "a", "c"], tmp_path / "i")
    records = [
        ("b", {"year": 2020, "mixed": 1, "large": 2**60}),
        ("c", {"year": 1999.5, "mixed": "one", "large": 2**60 + 1}),
    ]
    found = written(index, records, tmp_path / "m")
    assert {key: column.kind for key, column in found.columns.items()} == {
        "year": "number", "mixed": "text", "large": "text",
    }  # fmt: skip
    assert found.columns["year"].n_documents == 2
    np.testing.assert_array_equal(found.numbers("year"), [np.nan, 2020, 1999.5])  # a, b, c
    places, values = found.texts("large")
    assert (places.tolist(), list(values)) == ([-1, 0, 1], ["1152921504606846976", "1152921504606846977"])


def test_numbers_that_come_back(tmp_path):
    """A whole number is an integer as long as no engine's 64 bits, nor float64's own, are too few for it."""
    index = index_named(["a", "b", "c"], tmp_path / "i")
    records = [("a", {"n": 1e20, "l": (1, -1e20)}), ("b", {"n": 2.0**53, "l": (0.5,)}), ("c", {"n": -1e300, "l": (2,)})]
    found = written(index, records, tmp_path / "m")
    assert found.columns["n"].kind == "number"
    values = [values_at(found, place) for place in range(3)]
    assert [type(one["n"]) for one in values] == [float, int, float]
    assert [one["n"] for one in values] == [1e20, 2**53, -1e300]
    assert sorted(values[0]["l"]) == [-1e20, 1] and {type(one) for one in values[0]["l"]} == {float, int}
    assert written(index, list(zip("abc", values, strict=True)), tmp_path / "again").columns == found.columns


def test_what_was_opened_stays_when_others_write_it_anew(tmp_path):
    """Another first column, and another first document: no old place is looked up in a new file."""
    index = index_named(["b", "c"], tmp_path / "i")
    found = written(index, [("b", {"color": "red"}), ("c", {"color": "blue"})], tmp_path / "m")
    grown = index_named(["a", "b", "c"], tmp_path / "j")
    written(grown, [("a", {"owner": "Ann", "color": "x"}), ("b", {"owner": "Bob"})], tmp_path / "m")
    assert dict(found.values("color")) == {"b": "red", "c": "blue"}
    assert [values_at(found, place) for place in (0, 1)] == [{"color": "red"}, {"color": "blue"}]


def test_refused(tmp_path):
    index = index_named(["a", "b"], tmp_path / "i")
    builder = ColumnsBuilder(documents_in_order(index))
    with pytest.raises(InputError, match="document 'a' has metadata twice"):
        builder.add([("a", {"x": 1}), ("a", {"x": 2})])
    with pytest.raises(InputError, match="the key 'x=y' cannot be named in a condition"):
        builder.add([("b", {"x=y": 1})])
    empty = ColumnsBuilder(documents_in_order(index))
    empty.add([("z", {"x": 1}), ("a", {})])
    assert empty.n_unknown == 1
    with pytest.raises(InputError, match="no document of the index has metadata"):
        empty.write(tmp_path)


def test_the_first_may_be_kept(tmp_path):
    builder = ColumnsBuilder(documents_in_order(index_named(["a"], tmp_path / "i")))
    builder.add([("a", {"x": 1}), ("a", {"x": 2})], store.OF_CORPUS)
    builder.write(tmp_path)
    assert np.load(tmp_path / "0.npy").tolist() == [1.0]


def test_another_indexs_metadata_are_refused(tmp_path):
    index = index_named(["a", "b"], tmp_path / "i")
    written(index, [("a", {"x": 1})], tmp_path / "m")
    for other in (["a", "c"], ["a", "b", "c"]):
        with pytest.raises(ArtifactError, match="was made for another index"):
            open_metadata(tmp_path / "m", index_named(other, tmp_path / f"i{len(other)}"))


def test_large_numbers(tmp_path, caplog):
    index = index_named(["a", "b"], tmp_path / "i")
    records = [("a", {"far": 1e300, "wide": 10**400, "exact": 2**53}), ("b", {"far": 2, "wide": 2, "exact": -(2**53)})]
    found = written(index, records, tmp_path / "m")
    assert {key: column.kind for key, column in found.columns.items()} == {
        "far": "number", "wide": "text", "exact": "number",
    }  # fmt: skip
    assert found.numbers("far").tolist() == [1e300, 2.0]
    assert list(found.texts("wide")[1]) == [str(10**400), "2"]
    (message,) = caplog.messages
    assert message.startswith("wide is kept as text and compares as text, because 1000")


@pytest.mark.parametrize("numbers", [(1, 1.0), (1.0, 1)])
def test_equal_numbers_are_one_text(tmp_path, numbers):
    index = index_named(["a", "b", "c"], tmp_path / "i")
    records = [(doc_id, {"x": value}) for doc_id, value in zip("abc", (*numbers, "one"), strict=True)]
    places, values = written(index, records, tmp_path / "m").texts("x")
    assert (places.tolist(), list(values)) == ([0, 0, 1], ["1", "one"])


def test_one_other_document_among_many_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "IDS_AT_ONCE", 100)
    ids = [f"d{number:05d}" for number in range(3000)]
    written(index_named(ids, tmp_path / "i"), [(ids[0], {"x": 1})], tmp_path / "m")
    with pytest.raises(ArtifactError, match="was made for another index"):
        open_metadata(tmp_path / "m", index_named([*ids[:1001], "d01000x", *ids[1002:]], tmp_path / "other"))


def written_without_ids(index, records, folder):
    """As format 2 was: the digest of the ids, and not the ids."""
    builder = ColumnsBuilder(documents_in_order(index))
    builder.add(records)
    with write_artifact(folder, Manifest(store.KIND, 2, {})) as draft:
        builder.write(draft)
        for file in draft.glob("doc_ids.*"):
            file.unlink()


def test_metadata_that_do_not_have_their_ids(tmp_path):
    """They serve the index they were made for, and what became of it while its rows are still there."""
    index = index_named(["b", "a", "c"], tmp_path / "i")
    written_without_ids(index, [("a", {"x": 1}), ("b", {"x": 2}), ("c", {"x": 2})], tmp_path / "m")
    two = [parse_condition("x=2")]
    for same in (index, LiveIndex.of_index(index)):
        found = open_metadata(tmp_path / "m", same)
        assert [mask.tolist() for mask in filter_masks(LiveIndex.of_index(index), found, two)] == [[1, 0, 1]]
    live = live_of(tmp_path / "live", [{doc_id: {0: 1.0} for doc_id in "bac"}, {"d": {0: 1.0}}], 1)
    with open_writer(live) as writer:
        writer.delete(["a"])
        writer.append(vectors_of({"b": {0: 2.0}}, 1), replacing=True)
    masks = filter_masks(open_live(live), open_metadata(tmp_path / "m", open_live(live)), two)
    assert [mask.tolist() for mask in masks] == [[1, 0, 1], [0], [1]]  # b was replaced, and is still known by its id
    with open_writer(live) as writer:
        writer.merge(everything=True)
    with pytest.raises(ArtifactError, match="was made for another index: it is of 3 documents, the index of 3"):
        open_metadata(tmp_path / "m", open_live(live))


def test_a_plain_index_is_not_taken_for_a_live_one(tmp_path):
    written(index_named(["a", "b"], tmp_path / "i"), [("a", {"x": 1})], tmp_path / "m")
    for other in (["a", "c"], ["a", "b", "c"]):
        plain = LiveIndex.of_index(index_named(other, tmp_path / f"i{len(other)}"))
        with pytest.raises(ArtifactError, match="was made for another index"):
            open_metadata(tmp_path / "m", plain)
