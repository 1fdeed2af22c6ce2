"""Indexes by shards: joined, they are the index built at once, to the byte; searched side by side, they rank alike."""

import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError, VocabularyMismatchError
from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.core.types import Vocabulary
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.joining import Part, join_indexes
from lexigraft.index.live.reader import LiveIndex, Segment
from lexigraft.index.store import open_index
from lexigraft.retrieve.kept_metadata import keep_metadata
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import Searcher
from lexigraft.shards.index import invert_by_shards
from lexigraft.shards.merge import merge_shards
from lexigraft.shards.running import Where
from lexigraft.stages.layout import metadata_beside
from lexigraft.stages.standalone import build, encode, index_vectors
from lexigraft.vectors.store import DocumentVectors
from tests.conftest import index_of, sparse_matrix, vocabulary_of
from tests.shards import contents, write_corpus, write_model

RANGE = 8  # documents, instead of 65,536
QUERY = {"kind": "model", "model": "../model", "fingerprint": "f"}


def in_small_ranges(monkeypatch):
    """An index built at once in ranges as small as those of the shards."""

    def at_once(inverting, folder, progress):
        vectors, _, _, keep, settings = inverting
        return build_index(vectors, folder, keep, settings.index, progress, range_size=RANGE)

    return at_once


@pytest.mark.parametrize("bits", [8, 24])
@pytest.mark.parametrize("keep", [0, 2, "m0.7"])
def test_joined_bm25_is_the_index_built_at_once(tmp_path, bits, keep, monkeypatch):
    data = str(write_corpus(tmp_path / "data", 30, fields=True))
    settings = Settings(index=IndexSettings(bits=bits))
    build(data, tmp_path / "at_once", settings, keep, invert=in_small_ranges(monkeypatch))
    where = Where(3, workers=1, keep=True)
    build(data, tmp_path / "by_shards", settings, keep, invert=invert_by_shards(where, RANGE))
    assert contents(tmp_path / "by_shards") == contents(tmp_path / "at_once")
    shards = sorted(path for path in (tmp_path / "by_shards.shards").iterdir() if path.name.isdecimal())
    assert [open_index(shard).n_documents for shard in shards] == [8, 8, 14]
    with pytest.raises(InputError, match="2 of 3 shards are given"):
        merge_shards(shards[:2], tmp_path / "merged")
    with pytest.raises(InputError, match="00002 is shard 2, not 1; give all shards, in order"):
        merge_shards([shards[0], shards[2], shards[1]], tmp_path / "merged")
    merge_shards(shards, tmp_path / "merged")
    lists = contents(tmp_path / "merged", ("manifest.json",))
    expected = contents(tmp_path / "at_once", ("manifest.json",))
    # Shards are made of vectors, and texts are kept by the index that is built of them.
    assert lists == {name: content for name, content in expected.items() if not name.startswith("texts.")}


def test_search_over_shards_is_exact(tmp_path, monkeypatch):
    """BM25's statistics are those of the whole, so a score does not depend on the shard."""
    data = str(write_corpus(tmp_path / "data", 30))
    build(data, tmp_path / "index", Settings(), invert=invert_by_shards(Where(3, workers=1, keep=True), RANGE))
    shards = sorted(path for path in (tmp_path / "index.shards").iterdir() if path.name.isdecimal())
    whole = open_index(tmp_path / "index")
    side_by_side = LiveSearcher(LiveIndex(tuple(Segment(open_index(one)) for one in shards), whole.meta.query_encoder))
    draw = np.random.default_rng(0)
    for k in (1, 5, 30):
        for _ in range(20):
            terms = np.sort(draw.choice(whole.n_terms, 3, replace=False)).astype(np.int32)
            weights = draw.integers(1, 4, 3).astype(np.float32)
            found = side_by_side.search(terms, weights, k)
            assert found == Searcher(whole).search(terms, weights, k) and found.doc_ids


def test_indexes_of_learned_vectors(tmp_path):
    """Of a model's vectors by the usual ranges: there is one, and so one shard, whatever is asked for."""
    model, data = write_model(tmp_path / "made"), str(write_corpus(tmp_path / "data", 20))
    encode(data, model, tmp_path / "vectors", Settings())
    index_vectors(tmp_path / "vectors", tmp_path / "at_once", Settings(), data=data)
    where = Where(4, workers=1)
    index_vectors(tmp_path / "vectors", tmp_path / "by_shards", Settings(), data=data, invert=invert_by_shards(where))
    assert contents(tmp_path / "by_shards") == contents(tmp_path / "at_once")
    assert not (tmp_path / ".by_shards.shards").exists()


def part_of(tmp_path, name, rows, first, **options):
    """An index of some rows by a model, as somebody builds it of a part of a collection."""
    matrix = sparse_matrix(rows, 6, [f"d{first + number}" for number in range(len(rows))])
    titles = [f"title of {row_id}" for row_id in matrix.row_ids]
    vectors = DocumentVectors(matrix, titles, vocabulary_of(6), QUERY, "")
    with write_artifact(tmp_path / name, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, **options)
    return tmp_path / name


def rows_of(n_rows, seed):
    draw = np.random.default_rng(seed)
    return [{int(t): float(draw.integers(1, 256)) for t in draw.choice(6, 3, replace=False)} for _ in range(n_rows)]


@pytest.mark.parametrize("bits", [8, 16])
def test_parts_of_any_size_with_one_scale(tmp_path, bits):
    """Rows are read back and inverted again: nothing is lost, because one scale gives the same integers again."""
    rows, settings = rows_of(11, 0), IndexSettings(bits=bits)
    scale = 255 / (2**bits - 1)
    options = {"settings": settings, "scale": scale, "range_size": RANGE}
    parts = [part_of(tmp_path, "a", rows[:5], 0, **options), part_of(tmp_path, "b", rows[5:], 5, **options)]
    whole = part_of(tmp_path, "whole", rows, 0, **options)
    merge_shards(parts, tmp_path / "merged")
    assert contents(tmp_path / "merged", ("manifest.json",)) == contents(whole, ("manifest.json",))


def test_different_scales_are_said(tmp_path, caplog):
    parts = [part_of(tmp_path, "a", [{0: 255.0, 1: 3.0}], 0), part_of(tmp_path, "b", [{0: 51.0, 2: 0.2}], 1)]
    merge_shards(parts, tmp_path / "merged", IndexSettings(bits=8))
    assert "different scales: weights changed by up to" in caplog.text


def test_parts_that_do_not_fit_are_refused(tmp_path):
    a, again = part_of(tmp_path, "a", rows_of(3, 0), 0), part_of(tmp_path, "again", rows_of(3, 1), 2)
    cut = part_of(tmp_path, "cut", rows_of(3, 0), 9, keep=2)
    with pytest.raises(InputError, match="document id 'd2' appears twice"):
        merge_shards([a, again], tmp_path / "merged")
    with pytest.raises(InputError, match=r"differ in their cut of documents \(--keep\): 2 and 0"):
        merge_shards([a, cut], tmp_path / "merged")
    with pytest.raises(InputError, match="give two shards or more"):
        merge_shards([a], tmp_path / "merged")
    with pytest.raises(InputError, match="is one of the shards"):
        merge_shards([a, again], a)
    assert not (tmp_path / "merged").exists()
    other = index_of(sparse_matrix([{0: 1.0}], 3, ["x"]), tmp_path / "other")
    with pytest.raises(VocabularyMismatchError):
        join_indexes([Part(a, open_index(a)), Part(tmp_path / "other", other)], tmp_path, QUERY)
    assert Vocabulary(["a"]).fingerprint  # what tells them apart


def test_bm25_of_parts_is_refused(tmp_path):
    for name in ("a", "b"):
        build(str(write_corpus(tmp_path / f"data_{name}", 9)), tmp_path / name, Settings())
    with pytest.raises(InputError, match="bm25, whose weights depend on all documents of a collection"):
        merge_shards([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")


def test_texts_and_metadata_come_along(tmp_path):
    """Two halves, each encoded and indexed by itself, against the index of all of it."""
    model, data = write_model(tmp_path / "made"), write_corpus(tmp_path / "data", 12, fields=True)
    lines = (data / "corpus.jsonl").read_text().splitlines(keepends=True)
    for name, some in (("all", lines), ("a", lines[:5]), ("b", lines[5:])):
        part = tmp_path / f"data_{name}"
        part.mkdir()
        (part / "corpus.jsonl").write_text("".join(some))
        encode(str(part), model, tmp_path / f"vectors_{name}", Settings())
        index_vectors(tmp_path / f"vectors_{name}", tmp_path / name, Settings(), data=str(part))
        keep_metadata(tmp_path / name, str(part), Settings().data)
    merge_shards([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")
    ours, theirs = open_index(tmp_path / "merged"), open_index(tmp_path / "all")
    assert list(ours.doc_ids) == list(theirs.doc_ids) and list(ours.titles) == list(theirs.titles)
    assert [ours.texts.get(row) for row in range(12)] == [theirs.texts.get(row) for row in range(12)]
    found, expected = (metadata_beside(tmp_path / name) for name in ("merged", "all"))
    assert contents(found, ("manifest.json",)) == contents(expected, ("manifest.json",))
    assert ours.meta.query_encoder == theirs.meta.query_encoder
