import numpy as np
import pytest

from lexigraft.core.artifact import Manifest
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.index import metadata_files as store
from lexigraft.index.metadata import open_metadata
from lexigraft.index.metadata_columns import GivenMetadata, write_metadata
from tests.conftest import index_of, sparse_matrix


def index_named(ids, folder):
    return index_of(sparse_matrix([{0: 1.0}] * len(ids), 1, ids), folder)


MANIFEST = Manifest(store.KIND, store.FORMAT_VERSION, {})


def written(index, records, folder):
    write_metadata(folder, MANIFEST, index, GivenMetadata().add_all(records).table())
    return open_metadata(folder, index)


def values_of(metadata):
    """By document."""
    index = metadata.segments[0].index
    return {doc_id: metadata.of_row(index, row) for row, doc_id in enumerate(index.doc_ids)}


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
    (segment,) = found.segments
    np.testing.assert_array_equal(segment.numbers("year"), [np.nan, 2020, 1999.5])  # a, b, c
    large = segment.values("large")
    assert (large.codes.tolist(), list(large.table)) == ([-1, 0, 1], ["1152921504606846976", "1152921504606846977"])


def test_numbers_that_come_back(tmp_path):
    """A whole number is an integer as long as no engine's 64 bits, nor float64's own, are too few for it."""
    index = index_named(["a", "b", "c"], tmp_path / "i")
    records = [("a", {"n": 1e20, "l": (1, -1e20)}), ("b", {"n": 2.0**53, "l": (0.5,)}), ("c", {"n": -1e300, "l": (2,)})]
    found = written(index, records, tmp_path / "m")
    assert found.columns["n"].kind == "number"
    values = list(values_of(found).values())
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
    assert values_of(found) == {"b": {"color": "red"}, "c": {"color": "blue"}}


def test_refused(tmp_path, caplog):
    index = index_named(["a", "b"], tmp_path / "i")
    with pytest.raises(InputError, match="document 'a' has metadata twice"):
        GivenMetadata().add_all([("a", {"x": 1}), ("a", {"x": 2})])
    with pytest.raises(InputError, match="the key 'x=y' cannot be named in a condition"):
        GivenMetadata().add_all([("b", {"x=y": 1})])
    with pytest.raises(InputError, match="no document of the index has metadata"):
        written(index, [("z", {"x": 1}), ("a", {})], tmp_path / "m")
    assert caplog.messages == ["1 documents with metadata are not in the index and are left out"]
    assert not (tmp_path / "m").exists()


def test_a_key_of_a_corpus_that_no_condition_can_name_is_left_out_alone(tmp_path, caplog):
    records = [("a", {"x=y": 1, "year": 2020, " ": "s"}), ("b", {"x=y": 2, "year": 2021})]
    given = GivenMetadata(store.OF_CORPUS).add_all(records).table()
    columns = write_metadata(tmp_path / "m", MANIFEST, index_named(["a", "b"], tmp_path / "i"), given)
    assert [(column.key, column.n_documents) for column in columns] == [("year", 2)]
    assert [message.split(" is not kept")[0] for message in caplog.messages] == ["'x=y'", "' '"]


def test_the_first_may_be_kept(tmp_path):
    given = GivenMetadata(store.OF_CORPUS).add_all([("a", {"x": 1}), ("a", {"x": 2})]).table()
    write_metadata(tmp_path / "m", MANIFEST, index_named(["a"], tmp_path / "i"), given)
    assert np.load(tmp_path / "m/0.numbers.npy").tolist() == [1.0]


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
    assert found.segments[0].numbers("far").tolist() == [1e300, 2.0]
    assert list(found.segments[0].values("wide").table) == [str(10**400), "2"]
    (message,) = caplog.messages
    assert message.startswith("wide is kept as text and compares as text, because '1000")


@pytest.mark.parametrize("numbers", [(1, 1.0), (1.0, 1)])
def test_equal_numbers_are_one_text(tmp_path, numbers):
    index = index_named(["a", "b", "c"], tmp_path / "i")
    records = [(doc_id, {"x": value}) for doc_id, value in zip("abc", (*numbers, "one"), strict=True)]
    values = written(index, records, tmp_path / "m").segments[0].values("x")
    assert (values.codes.tolist(), list(values.table)) == ([0, 0, 1], ["1", "one"])


def test_one_other_document_among_many_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "IDS_AT_ONCE", 100)
    ids = [f"d{number:05d}" for number in range(3000)]
    written(index_named(ids, tmp_path / "i"), [(ids[0], {"x": 1})], tmp_path / "m")
    with pytest.raises(ArtifactError, match="was made for another index"):
        open_metadata(tmp_path / "m", index_named([*ids[:1001], "d01000x", *ids[1002:]], tmp_path / "other"))


def test_documents_with_a_key_of_their_own_each(tmp_path, caplog):
    """Of many keys the first are kept, and with them the values of all documents."""
    index = index_named([f"d{n:04}" for n in range(1203)], tmp_path / "i")
    records = [(f"d{n:04}", {"year": n, f"k{n}": n, "k0": 1}) for n in range(1203)]
    found = written(index, records, tmp_path / "m")
    assert list(found.columns) == ["year", *(f"k{n}" for n in range(999))]
    assert found.columns["year"].n_documents == found.columns["k0"].n_documents == 1203
    assert caplog.messages == [
        "only the first 1000 keys of metadata are kept to filter by, and not 'k999', 'k1000', 'k1001' or any that came "
        "after them"
    ]
