"""What other programs wrote comes back as an index with the very weights; whatever is wrong is one line, and leaves
nothing behind."""

import gzip
import json

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.export.importing import from_ciff, from_vectors
from lexigraft.export.importing.import_index import import_index
from lexigraft.export.targets import Wanted, export
from lexigraft.index.rows import iterate_rows
from lexigraft.index.store import open_index
from tests import ciff
from tests.unit.export.test_inverted_lists import ROWS, TERMS, make_index

LISTS = {"b": {1: 3, 2: 255}, "a": {0: 7}, "ü": {0: 1, 2: 2}}  # not in the order of their terms
DOC_IDS = ("d 0", "d1", "ü")


def rows_of(path):
    index = open_index(path)
    rows = iterate_rows(index, 0, index.n_documents)
    return {
        index.doc_ids[row]: {
            index.vocabulary.terms[rows.term_ids[at]]: int(rows.impacts[at])
            for at in range(rows.indptr[row], rows.indptr[row + 1])
        }
        for row in range(index.n_documents)
    }


def ciff_file(folder, data=None):
    path = folder / "other.ciff"
    path.write_bytes(ciff.whole_file(LISTS, DOC_IDS) if data is None else data)
    return path


def vector_file(folder, *lines):
    path = folder / "vectors.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def test_lists_of_another_program(tmp_path):
    imported = import_index(ciff_file(tmp_path), "ciff", tmp_path / "index")
    assert rows_of(tmp_path / "index") == {"d 0": {"a": 7, "ü": 1}, "d1": {"b": 3}, "ü": {"b": 255, "ü": 2}}
    assert imported.are_kept
    assert (imported.meta.scale, imported.meta.bits) == (1.0, 8)
    assert list(open_index(tmp_path / "index").vocabulary.terms) == ["a", "b", "ü"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["index", "other.ciff"], "nothing else is left"


@pytest.mark.parametrize(("largest", "bits"), [(255, 8), (256, 16), (65_536, 24), (2**24 - 1, 24)])
def test_whole_numbers_are_kept_in_as_few_bits_as_hold_them(largest, bits, tmp_path):
    file = ciff_file(tmp_path, ciff.whole_file({"a": {0: largest, 1: 1}}, ("x", "y")))
    imported = import_index(file, "ciff", tmp_path / "index")
    assert (imported.meta.bits, imported.are_kept) == (bits, True)
    assert rows_of(tmp_path / "index") == {"x": {"a": largest}, "y": {"a": 1}}


def test_larger_numbers_are_quantised(tmp_path):
    file = ciff_file(tmp_path, ciff.whole_file({"a": {0: 2**31 - 1, 1: 2**29}}, ("x", "y")))
    assert not import_index(file, "ciff", tmp_path / "index").are_kept
    assert rows_of(tmp_path / "index") == {"x": {"a": 255}, "y": {"a": 64}}


@pytest.mark.parametrize("part", [1, 2, 3])
def test_a_range_of_documents_at_a_time(part, tmp_path, monkeypatch):
    monkeypatch.setattr(from_ciff, "ENTRIES_AT_ONCE", part)
    import_index(ciff_file(tmp_path), "ciff", tmp_path / "index")
    assert rows_of(tmp_path / "index")["ü"] == {"b": 255, "ü": 2}


def test_fields_in_any_order_and_unknown_ones(tmp_path):
    unknown = ciff.field(9, 5) + ciff.field(10, "text") + ciff.field(11, 0.5)
    posting = b"\x22" + ciff.delimited(unknown + ciff.field(2, 4) + ciff.field(1, 1))
    one = ciff.delimited(posting + unknown + ciff.field(3, 4) + ciff.field(2, 1) + ciff.field(1, "a"))
    records = [
        ciff.delimited(ciff.field(3, 4) + unknown + ciff.field(2, name) + ciff.field(1, n))
        for n, name in enumerate("xy")
    ]
    file = ciff_file(tmp_path, ciff.header(1, 2) + one + b"".join(records))
    import_index(file, "ciff", tmp_path / "index")
    assert rows_of(tmp_path / "index") == {"x": {}, "y": {"a": 4}}


def test_json_vectors(tmp_path):
    """One line may be of Anserini, and another without contents; numbers may be ids."""
    lines = ({"id": "x", "contents": "A\ntitle", "vector": {"b": 2, "a": 255}}, {"id": 7, "vector": {"c": 1.0}})
    imported = import_index(vector_file(tmp_path, *lines, {"id": "z", "vector": {}}), "vectors", tmp_path / "index")
    assert rows_of(tmp_path / "index") == {"x": {"a": 255, "b": 2}, "7": {"c": 1}, "z": {}}
    assert list(open_index(tmp_path / "index").titles) == ["A title", "", ""]
    assert imported.are_kept


def test_weights_that_are_no_whole_numbers_are_quantised(tmp_path):
    file = vector_file(tmp_path, {"id": "x", "vector": {"a": 5.1, "b": 0.1}}, {"id": "y", "vector": {"a": 2.6}})
    imported = import_index(file, "vectors", tmp_path / "index")
    assert (imported.are_kept, imported.meta.bits) == (False, 8)
    assert imported.meta.scale == pytest.approx(0.02)
    assert rows_of(tmp_path / "index") == {"x": {"a": 255, "b": 5}, "y": {"a": 130}}


def test_a_folder_of_packed_and_plain_files(tmp_path, monkeypatch):
    monkeypatch.setattr(from_vectors, "ROWS_AT_ONCE", 1)
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "b.json").write_text('{"id": "y", "vector": {"b": 1, "a": 2}}\n')
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b'{"id": "x", "vector": {"c": 1, "b": 9}}\n'))
    (folder / "README.md").write_text("not read")
    import_index(folder, "vectors", tmp_path / "index")
    assert list(rows_of(tmp_path / "index").items()) == [("x", {"b": 9, "c": 1}), ("y", {"a": 2, "b": 1})]


@pytest.mark.parametrize(
    ("target", "format_", "name"), [("ciff", "ciff", "index.ciff"), ("anserini", "vectors", "collection")]
)
@pytest.mark.parametrize("like", [False, True])
def test_export_import_export_gives_the_same_bytes(target, format_, name, like, tmp_path):
    index = make_index(tmp_path / "index")
    export(target, Wanted(index), tmp_path / "one")
    import_index(tmp_path / "one" / name, format_, tmp_path / "back", like=index if like else None)
    export(target, Wanted(tmp_path / "back"), tmp_path / "two")
    files = [
        {file.name: file.read_bytes() for file in ([at] if at.is_file() else at.iterdir())}
        for at in (tmp_path / "one" / name, tmp_path / "two" / name)
    ]
    assert files[0] == files[1]
    assert rows_of(tmp_path / "back") == rows_of(index)
    if like:
        same = (
            "entries.npy",
            "stream.npy",
            "lengths.npy",
            "list_max.npy",
            "tie_rank.npy",
            "terms.utf8",
            "doc_ids.utf8",
        )
        assert all((index / file).read_bytes() == (tmp_path / "back" / file).read_bytes() for file in same)


def test_a_vocabulary_that_lacks_terms(tmp_path):
    index = make_index(tmp_path / "like", {"d": {0: 1.0}}, ["a"])
    refused(ciff_file(tmp_path), "ciff", tmp_path, "term 'b', and 1 others of 3", "--like", like=index)


def refused(file, format_, tmp_path, *says, kind=InputError, **options):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(kind) as raised:
        import_index(file, format_, tmp_path / "index", **options)
    assert "\n" not in str(raised.value)
    assert str(file) in str(raised.value)
    for text in says:
        assert text in str(raised.value)
    assert sorted(tmp_path.iterdir()) == before, "nothing is left behind"


HEADER = ciff.header(1, 2)
RECORDS = ciff.record(0, "x", 1) + ciff.record(1, "y", 1)
FINE = ciff.posting_list("a", [(0, 1), (1, 1)])
BAD_FILES = {
    "empty": (b"", ["is empty"]),
    "no header": (b"\x05hello", ["header"]),
    "other version": (ciff.header(1, 2, version=2) + FINE + RECORDS, ["version 2"]),
    "more lists than bytes": (ciff.header(2**31 - 1, 2) + FINE + RECORDS, ["num_postings_lists = 2147483647"]),
    "more documents than bytes": (ciff.header(1, 2**31 - 1) + FINE + RECORDS, ["num_docs = 2147483647"]),
    "no document": (ciff.header(1, 0) + FINE, ["num_docs = 0"]),
    "a negative number of lists": (ciff.header(-1, 2) + FINE + RECORDS, ["num_postings_lists = -1"]),
    "fewer lists than it says": (ciff.header(3, 2) + FINE + RECORDS, ["list 1 of 3"]),
    "more lists than it says": (
        HEADER + FINE + ciff.posting_list("b", [(0, 1)]) + RECORDS,
        ["document 1 of 2", "header counts"],
    ),
    "more documents than it says": (HEADER + FINE + RECORDS + ciff.record(2, "z", 1), ["bytes follow the last of 2"]),
    "fewer documents": (HEADER + FINE + ciff.record(0, "x", 1), ["within document 1 of 2"]),
    "a long list": (HEADER + ciff.varint(2**40) + FINE + RECORDS, ["within list 0 of 1"]),
    "a long posting": (
        HEADER + ciff.delimited(b"\x0a\x01a\x10\x01\x18\x01\x22\x7f\x10\x01") + RECORDS,
        ["posting 0", "broken"],
    ),
    "documents that do not ascend": (
        HEADER + ciff.posting_list("a", [(1, 1), (1, 1)]) + RECORDS,
        ["'a'", "posting 1", "gap of 0"],
    ),
    "documents that go back": (HEADER + ciff.posting_list("a", [(1, 1), (0, 1)]) + RECORDS, ["posting 1", "gap of -1"]),
    "an unknown document": (HEADER + ciff.posting_list("a", [(0, 1), (2, 1)]) + RECORDS, ["posting 1", "2 documents"]),
    "a far document": (HEADER + ciff.posting_list("a", [(1, 1), (2**62, 1)]) + RECORDS, ["posting 1", "2 documents"]),
    "tf 0": (HEADER + ciff.posting_list("a", [(0, 1), (1, 0)]) + RECORDS, ["posting 1", "tf = 0"]),
    "tf below 0": (HEADER + ciff.posting_list("a", [(0, -5)]) + RECORDS, ["posting 0", "tf = -5"]),
    "tf of 64 bits": (HEADER + ciff.posting_list("a", [(0, 2**40)]) + RECORDS, ["posting 0", "tf = 1099511627776"]),
    "another df": (HEADER + ciff.posting_list("a", [(0, 1)], df=2) + RECORDS, ["df = 2", "give 1"]),
    "another cf": (HEADER + ciff.posting_list("a", [(0, 1)], cf=2) + RECORDS, ["cf = 2", "give 1"]),
    "a term that is not UTF-8": (
        HEADER + ciff.posting_list(b"a\xff", [(0, 1)]) + RECORDS,
        ["term of list 0", "not UTF-8"],
    ),
    "no term": (HEADER + ciff.posting_list("", [(0, 1)]) + RECORDS, ["term of list 0", "0 bytes"]),
    "a long term": (HEADER + ciff.posting_list("x" * 70_000, [(0, 1)]) + RECORDS, ["70,000 bytes"]),
    "a term twice": (ciff.header(2, 2) + FINE + FINE + RECORDS, ["lists 0 and 1", "'a'"]),
    "an id that is not UTF-8": (
        HEADER + FINE + ciff.record(0, b"\xc3", 1) + ciff.record(1, "y", 1),
        ["id of document 0", "UTF-8"],
    ),
    "an id twice": (HEADER + FINE + ciff.record(0, "x", 1) + ciff.record(1, "x", 1), ["'x' appears twice"]),
    "documents out of order": (
        HEADER + FINE + ciff.record(1, "x", 1) + ciff.record(0, "y", 1),
        ["document 0 of 2", "ascend from 0 on"],
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_wrong_ciff_files(name, tmp_path):
    data, says = BAD_FILES[name]
    refused(ciff_file(tmp_path, data), "ciff", tmp_path, *says)


def test_a_ciff_file_that_is_cut_short_anywhere(tmp_path):
    whole = ciff.whole_file(LISTS, DOC_IDS)
    for size in range(0, len(whole), 3):
        refused(ciff_file(tmp_path, whole[:size]), "ciff", tmp_path)


def test_a_ciff_file_with_any_byte_changed_is_read_or_refused(tmp_path):
    whole, rng = ciff.whole_file(LISTS, DOC_IDS), np.random.default_rng(0)
    refusals = 0
    for place in rng.permutation(len(whole))[:40].tolist():
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        try:
            import_index(ciff_file(tmp_path, bytes(changed)), "ciff", tmp_path / "index", replace_other=True)
        except InputError as error:
            refusals += 1
            assert "other.ciff" in str(error)
    assert refusals > 20


BAD_LINES = {
    "no JSON": ("{", ["not valid JSON"]),
    "no id": ({"vector": {"a": 1}}, ["id and vector"]),
    "no vector": ({"id": "x"}, ["id and vector"]),
    "a dense vector": ({"id": "x", "vector": [1, 2]}, ["id and vector"]),
    "contents that are no text": ({"id": "x", "contents": 3, "vector": {"a": 1}}, ["contents"]),
    "zero": ({"id": "x", "vector": {"a": 1, "b": 0}}, ["term 'b' weighs 0"]),
    "negative": ({"id": "x", "vector": {"a": -1.5}}, ["term 'a' weighs -1.5"]),
    "not a number": ('{"id": "x", "vector": {"a": NaN}}', ["weighs nan"]),
    "infinite": ('{"id": "x", "vector": {"a": 2, "b": Infinity}}', ["weighs inf"]),
    "text": ({"id": "x", "vector": {"a": "1"}}, ["weighs 1"]),
    "true": ({"id": "x", "vector": {"a": True}}, ["weighs True"]),
    "of too many digits": ({"id": "x", "vector": {"a": 10**400}}, ["weighs 1000"]),
    "too small": ({"id": "x", "vector": {"a": 1e-60}}, ["weighs 1e-60"]),
    "an empty term": ({"id": "x", "vector": {"": 1}}, ["the term ''"]),
    "a lone surrogate": ('{"id": "x", "vector": {"\\ud800": 1}}', ["the term"]),
    "an empty id": ({"id": "", "vector": {"a": 1}}, ["the id ''"]),
    "a term twice": ('{"id": "x", "vector": {"a": 1, "a": 2}}', ["'a' twice"]),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_wrong_json_vectors(name, tmp_path):
    line, says = BAD_LINES[name]
    file = vector_file(tmp_path, {"id": "fine", "vector": {"a": 1}}, line)
    refused(file, "vectors", tmp_path, f"{file}:2", *says)


def test_json_vectors_with_nothing_in_them(tmp_path):
    refused(vector_file(tmp_path), "vectors", tmp_path, "no document with a term")
    refused(vector_file(tmp_path, {"id": "x", "vector": {}}), "vectors", tmp_path, "no document with a term")
    line = {"id": "x", "vector": {"a": 1}}
    refused(vector_file(tmp_path, line, line), "vectors", tmp_path, "'x' appears twice")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "vectors", tmp_path, "no file of JSON vectors")


def test_what_is_given_wrong(tmp_path):
    file = ciff_file(tmp_path)
    with pytest.raises(SettingError, match="'json' is not known; one of ciff, vectors"):
        import_index(file, "json", tmp_path / "index")
    with pytest.raises(SettingError, match="--like"):
        import_index(file, "ciff", tmp_path / "index", system="bm25")
    refused(tmp_path / "absent", "ciff", tmp_path, "there is no file")
    refused(vector_file(tmp_path, {"id": "x", "vector": {"a": 1}}), "ciff", tmp_path)


def test_what_lies_there_is_replaced_only_where_that_is_asked_for(tmp_path):
    one = import_index(ciff_file(tmp_path), "ciff", tmp_path / "index")
    assert import_index(ciff_file(tmp_path), "ciff", tmp_path / "index") == one
    other = vector_file(tmp_path, {"id": "x", "vector": {"a": 1}})
    with pytest.raises(ArtifactError, match="replace=True"):
        import_index(other, "vectors", tmp_path / "index")
    assert open_index(tmp_path / "index").n_documents == 3
    import_index(other, "vectors", tmp_path / "index", replace_other=True)
    assert open_index(tmp_path / "index").n_documents == 1


def test_rows_that_had_no_terms_and_odd_names(tmp_path):
    index = make_index(tmp_path / "one", ROWS, TERMS)
    export("anserini", Wanted(index), tmp_path / "out")
    import_index(tmp_path / "out/collection/docs00000.jsonl", "vectors", tmp_path / "back")
    assert list(open_index(tmp_path / "back").titles) == [f"Title of {name}" for name in ROWS]
