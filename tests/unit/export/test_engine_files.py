"""What is in the files for engines, read without the product's code, and what it scores."""

import gzip
import json
import re
import subprocess

import numpy as np
import pytest

from lexigraft.export.engine_files.terms_as_keys import key_of
from lexigraft.export.opensearch import scaled
from lexigraft.export.pgvector import copy_text
from lexigraft.export.source import Source
from lexigraft.export.targets import Wanted, export
from tests.engines.exported_files import LuceneTwin, VespaTwin, as_feature, lines_of, queries_of
from tests.engines.right_answers import require_same, right_answers
from tests.unit.export import odd

TWINS = {"opensearch": LuceneTwin, "elasticsearch": LuceneTwin, "vespa": VespaTwin}
ROWS = [{0: 255, 1: 1, 2: 7}, {}, {term: term + 1 for term in range(len(odd.TERMS))}, {16: 3, 18: 4}]
IDS = ["d.0", "empty", "all: 'of' them\\", "é😀#3"]


@pytest.mark.parametrize("name", ["documents", "passages"])
@pytest.mark.parametrize("target", TWINS)
def test_scores_of_the_files_alone(target, name, exported):
    folder, wanted, done = exported(target, name)
    source = Source.open(wanted.path)
    right, twin = right_answers(source, wanted.queries), TWINS[target](folder)
    asked = queries_of(folder)
    assert [one["query_id"] for one in asked] == list(right) == ["q1", "q2", "q3"]
    for one in asked:
        require_same(twin.search(one["body"]), right[one["query_id"]])
    if target == "vespa":
        for one in asked:
            require_same(twin.search(one["body"], by_tensors=True), right[one["query_id"]])
    assert done.facts["queries_without_terms"] == ["q4"] and any("q4" in line for line in done.lost)


@pytest.mark.parametrize("target", ["opensearch", "elasticsearch"])
def test_odd_terms_and_ids_in_bulk_files(target, tmp_path):
    index = odd.index_of_rows(tmp_path / "i", ROWS, ids=IDS)
    export(target, Wanted(index), tmp_path / "out")
    found = lines_of(tmp_path / "out", "bulk-*.ndjson.gz")
    assert [action["index"]["_id"] for action in found[::2]] == IDS
    assert [row.get("terms") for row in found[1::2]] == [
        {key_of(odd.TERMS[term]): impact for term, impact in row.items()} or None for row in ROWS
    ]
    LuceneTwin(tmp_path / "out")  # which checks keys and ids


def test_odd_terms_and_ids_by_number(tmp_path):
    index = odd.index_of_rows(tmp_path / "i", ROWS, ids=IDS)
    for target, pattern in (("vespa", "feed-*.jsonl.gz"), ("qdrant", "points-*.json.gz"), ("milvus", "rows-*.json.gz")):
        folder = tmp_path / target
        export(target, Wanted(index), folder)
        vocabulary = [json.loads(line) for line in (folder / "vocabulary.jsonl").read_text().split("\n")[:-1]]
        assert vocabulary == odd.TERMS
        assert numbered(folder, target, pattern) == list(zip(IDS, ROWS, strict=True))


def numbered(folder, target, pattern):
    """(id, {term: weight}) of all rows, as the engine's files have them."""
    if target == "vespa":
        return [(one["fields"]["row_id"], as_numbers(one["fields"].get("terms", {})))
                for one in lines_of(folder, pattern)]  # fmt: skip
    (part,) = folder.glob(pattern)
    rows = json.loads(gzip.decompress(part.read_bytes()))
    if target == "milvus":
        n_terms = str(len(odd.TERMS))
        assert rows[1]["terms"].pop(n_terms) == 1  # a row without terms has one that no query has
        return [(one["id"], as_numbers(one["terms"])) for one in rows]
    assert rows["points"][1]["vector"] == {}
    found = [
        (one["payload"]["row_id"], one["vector"].get("terms", {"indices": [], "values": []})) for one in rows["points"]
    ]
    return [(row_id, dict(zip(terms["indices"], terms["values"], strict=True))) for row_id, terms in found]


def as_numbers(terms):
    return {int(key): weight for key, weight in terms.items()}


def test_stored_fields_and_metadata(exported):
    folder, _, done = exported("elasticsearch", name="documents")
    mapping = json.loads((folder / "index.json").read_text())["mappings"]["properties"]
    hexed = f"hex_{odd.ODD_KEY.encode().hex()}"
    assert {key: field["type"] for key, field in mapping["meta"]["properties"].items()} == {
        "year": "double", "day": "date", "venue": "keyword", "tags": "keyword", hexed: "keyword",
    }  # fmt: skip
    found = lines_of(folder, "bulk-*.ndjson.gz")
    rows = {action["index"]["_id"]: source for action, source in zip(found[::2], found[1::2], strict=True)}
    assert rows["a b"]["title"] == 'quoted "title"' and rows["a b"]["text"] == "sort a list of items"
    assert rows["a b"]["meta"] == {
        "year": 2000.5, "day": "2020-01-02", "venue": 'a\t"1"\\', "tags": ["one", "t.1", "é"], hexed: "x",
    }  # fmt: skip
    assert "meta" not in rows["x/y"] and "terms" not in rows["é😀"]
    assert any(hexed in line for line in done.lost) and done.facts["metadata"] == odd.KINDS
    assert done.facts["empty_rows"] == 1


@pytest.mark.parametrize(
    ("target", "name", "key"),
    [("vespa", "FIELDS", "SHOWN"), ("vespa", "SHOWN", "NAME"), ("vespa", "HNSW", "FIELDS"),
     ("pgvector", "HNSW", "COLUMNS"), ("pgvector", "COPIES", "INLINE"), ("qdrant", "ENDPOINT", "NAME")],
)  # fmt: skip
def test_words_of_templates_are_names_as_any_other(target, name, key, tmp_path):
    """The same files as with plain names, in which the names are others."""

    def texts(folder, name, key):
        index = odd.index_of_rows(folder / "i", [{0: 1}])
        (folder / "meta.jsonl").write_text(json.dumps({"_id": "d0", key: "x"}) + "\n")
        odd.call("index", "metadata", "--index", index, "--file", folder / "meta.jsonl")
        export(target, Wanted(index, name=name), folder / "out")
        own = [path for path in (folder / "out").rglob("*") if path.suffix in (".md", ".py", ".sql", ".sd", ".xml")]
        assert len(own) >= 2
        return {path.stem.replace(name, "own_name"): path.read_text() for path in own}

    plain = texts(tmp_path / "plain", "own_name", "own_key")
    renamed = {stem: text.replace("own_name", name).replace("own_key", key) for stem, text in plain.items()}
    assert texts(tmp_path / "odd", name, key) == renamed


def test_passages_name_their_document(exported):
    folder, _, done = exported("opensearch", "passages")
    found = lines_of(folder, "bulk-*.ndjson.gz")
    for action, source in zip(found[::2], found[1::2], strict=True):
        assert action["index"]["_id"].rpartition("#")[0] == source["document"]
    assert json.loads((folder / "index.json").read_text())["mappings"]["properties"]["document"] == {"type": "keyword"}
    assert any("passage" in line for line in done.kept)


def test_sparse_vector_of_opensearch(exported):
    folder, wanted, done = exported("opensearch", form="sparse_vector")
    index = json.loads((folder / "index.json").read_text())
    assert index["settings"] == {"index": {"sparse": True}}
    field = index["mappings"]["properties"]["terms"]
    ceilings = field["method"]["parameters"]
    vocabulary = (folder / "vocabulary.jsonl").read_text().splitlines()
    for source in lines_of(folder, "bulk-*.ndjson.gz")[1::2]:
        for key, impact in source.get("terms", {}).items():
            assert int(key) < len(vocabulary)
            assert round(impact / ceilings["quantization_ceiling_ingest"] * 255) == impact
    for one in queries_of(folder):
        asked = one["body"]["query"]["neural_sparse"]["terms"]
        term_ids, weights = Source.open(wanted.path).query(one["text"])
        bytes_of = [round(weight / ceilings["quantization_ceiling_search"] * 255) for weight in
                    asked["query_tokens"].values()]  # fmt: skip
        assert bytes_of == weights.tolist() and list(asked["query_tokens"]) == [str(term) for term in term_ids]
        assert asked["method_parameters"] == {"k": 100, "top_n": len(weights)}
    assert any("approximates" in line for line in done.lost)


def test_weights_that_lucene_takes():
    assert scaled({1: 64, 2: 3}) == {1: 64, 2: 3}
    assert scaled({1: 65, 2: 3}) == {1: 32.5, 2: 1.5}
    assert scaled({1: 255, 2: 129}) == {1: 63.75, 2: 32.25}
    assert all(np.float32(scaled({0: 255, 1: one})[1]) * 4 == one for one in range(1, 256))


def test_features_of_lucene():
    """Whole numbers up to 512 are kept, and others lose what is beyond nine significant bits."""
    whole = np.arange(1, 513)
    assert (as_feature(whole) == whole).all()
    assert as_feature(np.array([513.0, 1.001, 0.1])).tolist() == [512.0, 1.0, (1 + 153 / 256) / 16]


def test_rows_for_copy(tmp_path, exported):
    """What COPY's form of text says, undone by the rules of PostgreSQL's documentation."""
    folder, wanted, _ = exported("pgvector")
    (part,) = folder.glob("rows-*.copy.gz")
    lines = gzip.decompress(part.read_bytes()).decode().split("\n")[:-1]
    rows = {fields[0]: fields for fields in ([plain(field) for field in line.split("\t")] for line in lines)}
    assert set(rows) == set(odd.TITLES)
    assert rows["x/y"][1] == "back\\slash and lines" and rows["#"][1] == "\\N" and rows["id::id"][1] == "\\."
    source = Source.open(wanted.path)
    assert all(fields[3].endswith(f"}}/{source.index.n_terms}") for fields in rows.values())
    assert rows["é😀"][3] == f"{{}}/{source.index.n_terms}"
    assert json.loads(rows["a b"][4])["day"] == "2020-01-02T00:00:00+00:00"  # a bare day is one of the session's zone


def test_every_date_of_postgresql_names_its_zone(tmp_path):
    """Those within a day, too, in single values; in a list, dates are texts."""
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}, {0: 2}, {0: 3}])
    days = ["2020-01-02", "2020-01-02T03:00:00+02:00", "2020-01"]
    lines = [json.dumps({"_id": f"d{n}", "the day": day, "tags": [day]}) + "\n" for n, day in enumerate(days)]
    (tmp_path / "meta.jsonl").write_text("".join(lines))
    odd.call("index", "metadata", "--index", index, "--file", tmp_path / "meta.jsonl")
    done = export("pgvector", Wanted(index), tmp_path / "out")
    (part,) = (tmp_path / "out").glob("rows-*")
    metas = [
        json.loads(plain(line.split("\t")[-1])) for line in gzip.decompress(part.read_bytes()).decode().splitlines()
    ]
    assert [meta[f"hex_{b'the day'.hex()}"] for meta in metas] == [
        "2020-01-02T00:00:00+00:00", "2020-01-02T01:00:00+00:00", "2020-01-01T00:00:00+00:00",
    ]  # fmt: skip
    assert [meta["tags"] for meta in metas] == [[day] for day in days]
    assert "'2024-01-01T00:00Z'" in done.use


def plain(field):
    assert field != "\\N"  # NULL
    found, place = [], 0
    while place < len(field):
        if field[place] == "\\":
            found.append(
                {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\\": "\\"}[field[place + 1]]
            )
        else:
            found.append(field[place])
        place += 2 if field[place] == "\\" else 1
    return "".join(found)


def test_control_characters_for_copy():
    text = "".join(map(chr, range(1, 0x250))) + "\\N\\."
    assert plain(copy_text(text)) == text and not set(copy_text(text)) & set("\t\n\r")


def test_what_postgresql_and_vespa_cannot_hold_in_titles_is_said(tmp_path):
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}])
    (tmp_path / "meta.jsonl").write_text(json.dumps({"_id": "d0", "venue": "a\0b", "tags": ["c\0", "d"]}) + "\n")
    odd.call("index", "metadata", "--index", index, "--file", tmp_path / "meta.jsonl")
    for target in ("pgvector", "vespa"):
        done = export(target, Wanted(index), tmp_path / target)
        assert any("in 2 values" in line and "U+FFFD" in line for line in done.lost), done.lost
    (part,) = (tmp_path / "pgvector").glob("rows-*")
    assert "a\ufffdb" in gzip.decompress(part.read_bytes()).decode()


@pytest.mark.parametrize("target", ["qdrant", "milvus", "pgvector", "opensearch", "elasticsearch", "vespa"])
def test_an_export_is_the_same_every_time_and_names_itself(target, exported, tmp_path):
    folder, wanted, _ = exported(target, "passages")
    again = tmp_path / "again"
    export(target, wanted, again)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        assert file.read_bytes() == (again / file.relative_to(folder)).read_bytes(), file
    export(target, Wanted(wanted.path, name="papers"), tmp_path / "named")
    own = [path for path in (tmp_path / "named").rglob("*") if path.suffix in (".md", ".py", ".sql", ".sh", ".sd")]
    texts = "".join(path.read_text() for path in own)
    assert "papers" in texts and not re.search(r"/NAME|\"NAME\"|`NAME`|collection NAME", texts)
    for program in (tmp_path / "named").glob("*.py"):
        compile(program.read_text(), program, "exec")
    for script in (tmp_path / "named").glob("*.sh"):
        subprocess.run(["sh", "-n", script], check=True)
