import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.index import metadata as store
from lexigraft.index.metadata import ColumnsBuilder, documents_in_order, open_metadata
from tests.conftest import index_of, sparse_matrix


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
    builder.add([("a", {"x": 1}), ("a", {"x": 2})], keep_first=True)
    builder.write(tmp_path)
    assert np.load(tmp_path / "0.npy").tolist() == [1.0]


def test_another_indexs_metadata_are_refused(tmp_path):
    index = index_named(["a", "b"], tmp_path / "i")
    written(index, [("a", {"x": 1})], tmp_path / "m")
    for other in (["a", "c"], ["a", "b", "c"]):
        with pytest.raises(ArtifactError, match="was made for another index"):
            open_metadata(tmp_path / "m", index_named(other, tmp_path / f"i{len(other)}"))
