"""What a condition says where it does not fit the fields."""

import pytest

from lexigraft.core.artifact import Manifest
from lexigraft.core.errors import SettingError
from lexigraft.index import metadata_files as store
from lexigraft.index.metadata import open_metadata
from lexigraft.index.metadata_columns import GivenMetadata, write_metadata
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from tests.conftest import index_of, sparse_matrix

RECORDS = {
    "a": {"year": 2020, "lang": "de", "published": "2024-03-01T10:00:00Z", "tags": ("x", "y"), "mixed": 3},
    "b": {"year": 2021, "lang": "en", "published": "2024-03", "tags": "x", "mixed": "three"},
    "c": {"tags": (), "codes": (1, 2)},
}


@pytest.fixture
def asked(tmp_path):
    index = index_of(sparse_matrix([{0: 1.0}] * 3, 1, list(RECORDS)), tmp_path / "i")
    manifest = Manifest(store.KIND, store.FORMAT_VERSION, {})
    columns = write_metadata(tmp_path / "m", manifest, index, GivenMetadata().add_all(RECORDS.items()).table())
    assert [(column.key, column.kind, column.of, column.n_documents) for column in columns] == [
        ("year", "number", "", 2), ("lang", "text", "", 2), ("published", "date", "", 2), ("tags", "list", "text", 2),
        ("mixed", "text", "", 2), ("codes", "list", "number", 1),
    ]  # fmt: skip
    metadata = open_metadata(tmp_path / "m", index)

    def ask(text):
        (mask,) = filter_masks(metadata, [parse_condition(text)])
        return "".join(doc_id for doc_id, flag in zip(index.doc_ids, mask, strict=True) if flag)

    return ask


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("published = 2024-03-01", "ab"),
        ("published > 2024-03-01", ""),
        ("published >= 2024-03-01T09:00+02:00", "a"),
        ("published <= 2024", "ab"),
        ('year = "2020"', "a"),
        ("mixed = 3", "a"),
        ('mixed >= "3"', "ab"),
        ("codes has 2.0", "c"),
        ("tags has x and not tags has y", "b"),
        ("not lang = de", "bc"),
    ],
)
def test_what_is_found(asked, text, found):
    assert asked(text) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "yaer = 1",
            "at character 1, 'yaer = 1': the documents' metadata have no key 'yaer'; present: codes, lang, mixed",
        ),
        ("lang = de or year = red", "at character 21, 'red': year is a number in all documents, and 'red' is none"),
        ("year in (1, x)", "at character 13, 'x)': year is a number"),
        ("lang > 3", "at character 8, '3': lang is text, and 3 is a number"),
        ("published = soon", "at character 13, 'soon': published is a date in all documents"),
        ("tags = x", "at character 1, 'tags = x': tags is a list; ask for one of its elements: tags has VALUE"),
        ("lang has de", "at character 1, 'lang has de': lang is text and no list"),
        ("codes has x", "at character 11, 'x': codes is a number in all documents"),
    ],
)
def test_what_does_not_fit(asked, text, problem):
    with pytest.raises(SettingError) as error:
        asked(text)
    assert problem in str(error.value)
