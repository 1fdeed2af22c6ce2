"""What engines cannot hold is refused by name, in one line."""

import gzip
from functools import partial
from importlib import import_module

import pytest

from lexigraft.core.errors import InputError, LexigraftError, SettingError
from lexigraft.core.types import Query
from lexigraft.export import pgvector
from lexigraft.export.engine_files import limits, query_bodies
from lexigraft.export.engine_files.bulk import Parts
from lexigraft.export.targets import Wanted, export
from tests.unit.export import odd

LUCENE = ("opensearch", "elasticsearch")


def refused(target, path, tmp_path, **wanted):
    """The error of an export, of which nothing is left."""
    with pytest.raises(LexigraftError) as error:
        export(target, Wanted(path, **wanted), tmp_path / "out")
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()
    return str(error.value)


@pytest.mark.parametrize(
    ("target", "name"),
    [("qdrant", "a/b"), ("milvus", "1a"), ("milvus", "a-b"), ("pgvector", 'a"b'), ("pgvector", "x" * 64),
     ("opensearch", "Upper"), ("opensearch", "-a"), ("elasticsearch", ".."), ("elasticsearch", "a b"),
     ("vespa", "a-b")],
)  # fmt: skip
def test_names(target, name, tmp_path):
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}])
    assert f"{name!r} cannot be a name in" in refused(target, index, tmp_path, name=name)


@pytest.mark.parametrize("target", LUCENE)
@pytest.mark.parametrize("bits", [16, 24])
def test_more_bits_than_lucene_keeps(target, bits, tmp_path):
    index = odd.index_of_rows(tmp_path / "i", [{0: 1, 1: 2**bits - 1}], bits=bits)
    said = refused(target, index, tmp_path)
    assert f"weights of {bits} bits" in said and "9 significant bits" in said and "index.bits" in said


@pytest.mark.parametrize("target", ["qdrant", "milvus", "pgvector"])
def test_more_bits_are_said_to_be_rounded_in_sums(target, tmp_path):
    index = odd.index_of_rows(tmp_path / "i", [{0: 1, 1: 65_535}], bits=16)
    exported = export(target, Wanted(index), tmp_path / "out")
    assert any("last bits of scores above 16,777,216" in line for line in exported.lost)
    assert any("weights, exactly" in line for line in exported.kept)
    index = odd.index_of_rows(tmp_path / "of 8", [{0: 1, 1: 255}])
    exported = export(target, Wanted(index), tmp_path / "out")
    assert not any("last bits" in line for line in exported.lost)


@pytest.mark.parametrize("target", LUCENE)
def test_ids_of_lucene(target, tmp_path):
    fits = odd.index_of_rows(tmp_path / "fits", [{0: 1}], ids=["é" * 256])
    export(target, Wanted(fits), tmp_path / "there")
    long = odd.index_of_rows(tmp_path / "long", [{0: 1}, {0: 2}], ids=["a", "é" * 256 + "x"])
    assert "has 513 bytes" in refused(target, long, tmp_path)


@pytest.mark.parametrize(("target", "least"), [("pgvector", 2_701), ("milvus", 65_536), ("vespa", 60_001)])
def test_long_ids(target, least, tmp_path):
    export(target, Wanted(odd.index_of_rows(tmp_path / "fits", [{0: 1}], ids=["x" * (least - 1)])), tmp_path / "there")
    long = odd.index_of_rows(tmp_path / "long", [{0: 1}], ids=["x" * least])
    assert f"has {least:,} bytes" in refused(target, long, tmp_path)


@pytest.mark.parametrize(("target", "character"), [("pgvector", "\0"), ("vespa", "\x1b"), ("vespa", "\ufdd0")])
def test_characters_in_ids(target, character, tmp_path):
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}], ids=[f"a{character}b"])
    assert f"has the character U+{ord(character):04X}" in refused(target, index, tmp_path)


def test_a_row_of_too_many_terms(tmp_path):
    terms = [f"t{number}" for number in range(16_001)]
    rows = [dict.fromkeys(range(16_000), 1.0), dict.fromkeys(range(16_001), 1.0)]
    fits = odd.index_of_rows(tmp_path / "fits", rows[:1], terms)
    exported = export("pgvector", Wanted(fits), tmp_path / "there")
    assert exported.facts["longest_row"] == 16_000 and not (tmp_path / "there" / "index.sql").exists()
    assert "takes rows of 1,000 terms at most, and the longest has 16,000" in exported.use
    said = refused("pgvector", odd.index_of_rows(tmp_path / "i", rows, terms), tmp_path)
    assert "'d1' has 16,001 terms" in said and "16,000 at most" in said and "--dk" in said


def test_an_index_of_rows_that_it_takes(tmp_path):
    exported = export("pgvector", Wanted(odd.index_of_rows(tmp_path / "i", [{0: 1}])), tmp_path / "out")
    assert "sparsevec_ip_ops" in (tmp_path / "out" / "index.sql").read_text() and "approximate" in exported.use


def test_sparse_vector_of_opensearch(tmp_path):
    terms = [f"t{number}" for number in range(32_769)]
    index = odd.index_of_rows(tmp_path / "i", [{0: 1, 32_768: 2}], terms)
    said = refused("opensearch", index, tmp_path, form="sparse_vector")
    assert "32,769 terms" in said and "sparse_vector 32,768 at most" in said
    export("opensearch", Wanted(index), tmp_path / "there")
    assert "one of rank_features, sparse_vector" in refused("opensearch", index, tmp_path, form="dense")
    assert "has no meaning for ciff" in refused("ciff", index, tmp_path, form="dense")


@pytest.mark.parametrize(("engine", "most"), [("Qdrant", 1 << 32), ("Milvus", (1 << 32) - 2), ("pgvector", 10**9)])
def test_dimensions(engine, most):
    limits.require_dimensions(engine, most, most)
    with pytest.raises(InputError, match=f"{most + 1:,} terms.*{engine}"):
        limits.require_dimensions(engine, most + 1, most)


def test_metadata_too_large_for_milvus(tmp_path, odd_indexes, lexigraft):
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}])
    (tmp_path / "meta.jsonl").write_text('{"_id": "d0", "venue": "' + "x" * 65_600 + '"}\n')
    assert lexigraft("index", "metadata", "--index", index, "--file", tmp_path / "meta.jsonl").status == 0
    said = refused("milvus", index, tmp_path)
    assert "the metadata of 'd0' have 65,612 bytes" in said and "65,536 at most" in said


@pytest.mark.parametrize(
    ("target", "place", "most"),
    [("qdrant", "lexigraft.export.qdrant", 32 << 20)]
    + [(target, "lexigraft.export.engine_files.lucene_bulk", 100 << 20) for target in LUCENE],
)
def test_a_row_larger_than_a_request(target, place, most, tmp_path, monkeypatch):
    """A row of exactly as many bytes as are taken is taken."""
    assert most == import_module(place).LARGEST_REQUEST
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}, dict.fromkeys(range(len(odd.TERMS)), 1)], ids=["small", "large"])
    monkeypatch.setattr(f"{place}.LARGEST_REQUEST", 0)
    said = refused(target, index, tmp_path)
    assert "'small' has " in said and "passage_words" in said
    monkeypatch.setattr(f"{place}.Parts", partial(Parts, most=1))  # every row is a part of its own
    monkeypatch.setattr(f"{place}.LARGEST_REQUEST", most)
    export(target, Wanted(index), tmp_path / "parts")
    sizes = [len(gzip.decompress(part.read_bytes())) for part in sorted((tmp_path / "parts").glob("*-0000*.gz"))]
    assert len(sizes) == 2 and sizes[0] < sizes[1]
    monkeypatch.setattr(f"{place}.LARGEST_REQUEST", sizes[1])
    export(target, Wanted(index), tmp_path / "fits")
    monkeypatch.setattr(f"{place}.LARGEST_REQUEST", sizes[1] - 1)
    name = {"qdrant": "Qdrant", "opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}[target]
    said = refused(target, index, tmp_path)
    assert f"'large' has {sizes[1]:,} bytes" in said and f"{name} takes {sizes[1] - 1:,} at most" in said


def test_a_query_of_too_many_terms(tmp_path, odd_indexes, monkeypatch):
    monkeypatch.setattr("lexigraft.export.opensearch.MOST_CLAUSES", 2)
    asked = [Query("long", "remove items of a list")]
    said = refused("opensearch", odd_indexes / "documents", tmp_path, queries=asked)
    assert "query 'long' has" in said and "--qk" in said


def test_constants_are_those_of_the_engines():
    from lexigraft.export import elasticsearch, opensearch

    assert (opensearch.MOST_CLAUSES, elasticsearch.MOST_CLAUSES, opensearch.MOST_IDS) == (1024, 1024, 32_768)
    assert (pgvector.MOST_TERMS, pgvector.MOST_DIMENSIONS, query_bodies.HITS) == (16_000, 10**9, 100)


def test_an_unknown_name_is_a_setting():
    with pytest.raises(SettingError):
        limits.require_name("Vespa", "")
