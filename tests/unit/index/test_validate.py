"""Contents with right checksums that kernels must not see: each is refused by a line that names the file."""

import json
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.index import shared_texts
from lexigraft.index.live import counts
from lexigraft.index.live.counts import are_distinct, has_distinct_terms
from lexigraft.index.live.reader import open_live
from lexigraft.index.metadata import metadata_of_live
from lexigraft.index.shared_texts import open_shared_texts
from lexigraft.index.store import open_index
from lexigraft.index.texts import KeptText, TextWriter
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from tests.conftest import index_of, sparse_matrix
from tests.fuzz.crafting import fit_checksums

GOLDEN = Path(__file__).parents[2] / "golden"
ROWS = [{0: 1.0, 1: 2.0}, {1: 1.0}, {0: 3.0, 2: 1.0}] * 50


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    index_of(sparse_matrix(ROWS, 3, [f"d{number:03}" for number in range(150)]), folder / "index", range_size=100)
    return folder / "index"


def crafted(made, tmp_path, name, change):
    """A copy of the index one array of which was changed, and its checksums with it."""
    folder = tmp_path / "crafted"
    shutil.copytree(made, folder)
    array = np.load(folder / name)
    changed = change(array)
    np.save(folder / name, array if changed is None else changed)
    fit_checksums(folder, name)
    return folder


def put(place, value):
    return lambda array: array.__setitem__(place, value)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("stream.npy", put(0, 0xFFFF), r"stream.npy has a list, of term 0 in range 0, that has another"),
        ("stream.npy", put(2, 0), r"stream.npy has a list, of term 0 in range 0"),
        ("stream.npy", put(-1, 0xFFFF), r"stream.npy has a list"),
        ("entries.npy", put(1, 7), "does not begin where the list before it ends"),
        ("lengths.npy", put(0, 2**40), "lengths.npy has other numbers of postings than the lists have"),
        ("list_max.npy", put(0, 1), "list_max.npy has other largest impacts"),
        ("tie_rank.npy", put(0, 2**31 - 1), "tie_rank.npy holds numbers outside of 0 to 149"),
        ("tie_rank.npy", put(0, -1), "tie_rank.npy holds numbers outside of 0 to 149"),
        ("tie_rank.npy", lambda array: np.zeros_like(array), "tie_rank.npy holds a number twice"),
        ("doc_ids.offsets.npy", put(1, 2**40), "doc_ids.utf8 has offsets that go back"),
        ("titles.offsets.npy", put(0, 5), "titles.utf8 does not end where its offsets do"),
        ("stream.npy", lambda array: array.astype(np.int64), "holds int64 of 1 dimensions instead of uint16 of 1"),
        ("stream.npy", lambda array: array.astype(">u2"), "holds >u2 of 1 dimensions instead of uint16 of 1"),
        ("entries.npy", lambda array: array.reshape(2, -1), "holds uint32 of 2 dimensions instead of uint32 of 1"),
    ],
)  # fmt: skip
def test_arrays_that_lead_outside(made, tmp_path, name, change, says):
    folder = crafted(made, tmp_path, name, change)
    with pytest.raises(ArtifactError, match=says) as found:
        open_index(folder)
    assert str(folder / name.split(".")[0]) in str(found.value) or str(folder / "stream.npy") in str(found.value)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"n_documents": 10**18}, r"meta.json says n_documents = 1000000000000000000, which must be"),
        ({"n_documents": -1}, "n_documents = -1"),
        ({"n_documents": "150"}, "n_documents = '150'"),
        ({"n_documents": True}, "n_documents = True"),
        ({"n_terms": 10**400}, "n_terms = a whole number of more than 64 bits"),
        ({"scale": float("nan")}, "scale = nan, which must be a finite number above 0"),
        ({"scale": 0}, "scale = 0"),
        ({"bits": 9}, "bits = 9, which must be one of 8, 16, 24"),
        ({"bits": 16}, "has a form that these impacts cannot have"),
        ({"n_postings": 7}, "says n_postings = 7, and lists have 250"),
        ({"keep": "m7"}, "keep = 'm7'"),
        ({"query_encoder": []}, "query_encoder"),
        ({"unheard": 1}, "a key 'unheard' that is not known"),
        ({"vocab_fingerprint": "x"}, "terms.utf8 holds other terms than meta.json says"),
    ],
)
def test_numbers_that_cannot_be(made, tmp_path, changed, says):
    folder = tmp_path / "crafted"
    shutil.copytree(made, folder)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, **changed}))
    fit_checksums(folder, "meta.json")
    with pytest.raises(ArtifactError, match=says):
        open_index(folder)


@pytest.mark.parametrize("wrong", [b"\xff000", b"\xed\xa0\x80x", b"\x80000"])
def test_strings_that_are_not_utf8(made, tmp_path, wrong):
    folder = tmp_path / "crafted"
    shutil.copytree(made, folder)
    found = (folder / "doc_ids.utf8").read_bytes()
    (folder / "doc_ids.utf8").write_bytes(wrong + found[4:])
    fit_checksums(folder, "doc_ids.utf8")
    with pytest.raises(
        ArtifactError, match=r"doc_ids\.utf8 (holds bytes that are not UTF-8|has strings that begin within)"
    ):
        open_index(folder)


def test_a_list_that_all_terms_share_does_not_make_the_pass_longer(tmp_path):
    """Terms that name one list many times would be a pass of terms times postings: they are refused at the second."""
    index_of(sparse_matrix([dict.fromkeys(range(50), 1.0)] * 90, 50), tmp_path / "made")
    folder = crafted(tmp_path / "made", tmp_path, "entries.npy", put(slice(1, None), 3))
    with pytest.raises(ArtifactError, match="of term 1 in range 0, that does not begin where"):
        open_index(folder)


def test_version_1_is_looked_through_before_it_is_encoded(tmp_path):
    folder = crafted(GOLDEN / "index_v1", tmp_path, "doc_ordinals.npy", put(0, 2**31 - 1))
    with pytest.raises(ArtifactError, match=r"doc_ordinals\.npy holds numbers outside of 0 to 2"):
        open_index(folder)


def texts_artifact(folder, blocks, ends):
    """Shared texts of one document, whose block and length are given."""
    with write_artifact(folder, Manifest(shared_texts.KIND, shared_texts.FORMAT_VERSION, {})) as draft:
        with TextWriter(draft) as writer:
            writer.append(KeptText("", "a text"))
        write_strings(draft, "doc_ids", ["d"])
        (draft / "texts.zlib").write_bytes(blocks)
        np.save(draft / "texts.block_starts.npy", np.array([0, len(blocks)]))
        np.save(draft / "texts.ends.npy", np.array([ends], np.uint32))
    return folder


def test_a_block_is_not_decompressed_to_more_than_its_rows(tmp_path):
    texts = open_shared_texts(texts_artifact(tmp_path / "bomb", zlib.compress(bytes(1 << 26), 9), 10))
    with pytest.raises(ArtifactError, match="block 0 is not of 10 bytes"):
        texts.get("d", 0)


def test_texts_that_say_to_be_gigabytes_are_not_believed(tmp_path):
    with pytest.raises(ArtifactError, match=r"texts\.ends\.npy has a text of more than 256 MiB"):
        open_shared_texts(texts_artifact(tmp_path / "large", zlib.compress(b"x"), 2**32 - 1))


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("segments/000001/counts/term_ids.npy", put(0, 10**6), r"term_ids\.npy holds numbers outside"),
        ("segments/000001/counts/indptr.npy", put(1, -5), r"indptr\.npy does not say where"),
        ("segments/000001/counts/counts.npy", put(0, 0), r"counts\.npy holds weights that are not"),
    ],
)
def test_counts_of_a_live_index(tmp_path, file, change, says):
    folder = crafted(GOLDEN / "live_v2", tmp_path, file, change)
    with pytest.raises(ArtifactError, match=says):
        open_live(folder)


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("3.npy", put(0, 99), r"3\.npy holds numbers outside of -1"),
        ("0.npy", put(0, -2), r"0\.npy holds numbers outside of -1"),
        ("2.elements.npy", put(0, 7), r"2\.elements\.npy holds numbers outside of 0"),
        ("2.lengths.npy", put(0, 5), r"2\.elements\.npy has 2 numbers instead of"),
        ("2.lengths.npy", put(0, -9), r"2\.lengths\.npy holds lengths below -1"),
        ("2.npy", put(0, 0), r"2\.lengths\.npy has a list and a single value of one document"),
        ("0.numbers.npy", put(0, np.inf), r"0\.numbers\.npy holds numbers that are not finite"),
        (
            "0.numbers.npy",
            put(0, np.nan),
            r"does not say how many numbers, dates and documents 'year' has",
        ),
        ("1.moments.npy", put(0, 2**62), r"1\.moments\.npy holds moments of years that there are not"),
    ],
)
def test_metadata_of_a_live_index(tmp_path, file, change, says):
    folder = crafted(GOLDEN / "live_v3", tmp_path, f"metadata/000001-000004/{file}", change)
    with pytest.raises(ArtifactError, match=says):
        open_live(folder)


def test_metadata_of_other_documents_than_those_of_their_segment(tmp_path):
    folder = tmp_path / "live"
    shutil.copytree(GOLDEN / "live_v3", folder)
    state = json.loads((folder / "live.json").read_text())
    first, second = state["segments"]
    first["metadata"], second["metadata"] = second["metadata"], first["metadata"]
    (folder / "live.json").write_text(json.dumps(state))
    fit_checksums(folder, "live.json")
    with pytest.raises(ArtifactError, match="of 1 documents, and the segment has others"):
        filter_masks(metadata_of_live(open_live(folder)), [parse_condition("year > 1")])


def test_deleted_rows_that_are_too_few(tmp_path):
    folder = tmp_path / "live"
    shutil.copytree(GOLDEN / "live_v2", folder)
    state = json.loads((folder / "live.json").read_text())
    state["segments"][0]["deleted"]["n_rows"] += 1
    (folder / "live.json").write_text(json.dumps(state))
    fit_checksums(folder, "live.json")
    with pytest.raises(ArtifactError, match=r"has other deleted rows than live\.json says"):
        open_live(folder)


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "", "x"])
def test_segments_are_within_the_folder(tmp_path, name):
    folder = tmp_path / "live"
    shutil.copytree(GOLDEN / "live_v1", folder)
    state = json.loads((folder / "live.json").read_text())
    state["segments"][0]["name"] = name
    (folder / "live.json").write_text(json.dumps(state))
    fit_checksums(folder, "live.json")
    with pytest.raises(ArtifactError, match="which must be a number, as segments are named by"):
        open_live(folder)


def test_terms_that_a_row_names_twice(monkeypatch):
    indptr = np.array([0, 2, 4])
    for terms, expected in (([0, 1, 1, 0], True), ([0, 0, 1, 2], False), ([2, 1, 2, 2], False)):
        ids = np.array(terms, np.int32)
        assert are_distinct(indptr, ids, 3) == expected
        with monkeypatch.context() as patch:
            patch.setattr(counts, "worth_loading", lambda work: False)  # the twin
            assert has_distinct_terms(indptr, ids, 3) == expected
