"""Folders that somebody else made, or that hold something else: nothing of them is believed, and nothing is lost."""

import json
import os

import onnx
import pytest

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, InputError, LexigraftError
from lexigraft.core.types import Document, Qrel, Query, Vocabulary
from lexigraft.export.importing.import_index import import_index
from lexigraft.export.targets import Wanted, export
from lexigraft.learn.import_model import import_model
from lexigraft.model.exported import public_name
from lexigraft.retrieve.retriever import Retriever
from lexigraft.vectors.term_queries import TermQueries
from tests.families import write_backbone
from tests.small_models import grafted, saved
from tests.tiny_run import write_run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strange")
    return saved(grafted(write_backbone("bert", folder / "backbone")), folder / "model")


@pytest.fixture
def exported(model, tmp_path):
    export("onnx", Wanted(model), tmp_path / "out")
    return tmp_path / "out"


def refused(folder, tmp_path):
    with pytest.raises(LexigraftError) as error:
        import_model(str(folder), tmp_path / "back")
    assert not (tmp_path / "back").exists() and "\n" not in str(error.value)
    return str(error.value)


def test_an_export_replaces_exports_alone(model, tmp_path):
    before = read_manifest(model).fingerprint
    with pytest.raises(ArtifactError, match="holds a model, not an export"):
        export("onnx", Wanted(model), model)
    assert read_manifest(model).fingerprint == before


def edited(folder, **changes):
    said = json.loads((folder / "lexigraft.json").read_text())
    for name, value in changes.items():
        part, _, key = name.partition("__")
        said[part][key] = value
    (folder / "lexigraft.json").write_text(json.dumps(said))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"encoder__words": {"zzz": [1]}}, "words"),
        ({"encoder__query_length": -5}, "query_length = -5"),
        ({"encoder__document_length": 10**9}, "document_length = 1000000000"),
        ({"encoder__document_terms": -3}, "document_terms = -3"),
        ({"encoder__pooling": "zzz"}, "pooling = 'zzz'"),
        ({"encoder__mean_words": 0.0}, "mean_words"),
        ({"card__measured": ["a"]}, "measured"),
        ({"card__base_model": "x\nlicense: mit"}, "base_model"),
        ({"card__collection": "x"}, "collection"),
        ({"card__trained": {"finetune": {"steps": "a\nb"}}}, "line of text"),
    ],
)
def test_what_no_model_says(changes, named, exported, tmp_path):
    edited(exported, **changes)
    assert named in refused(exported, tmp_path)


@pytest.mark.parametrize("term", ["\ud800x", "", "a\nb", "a\0b", 7])
def test_what_no_term_is(term, exported, tmp_path):
    terms = json.loads((exported / "terms.json").read_text())
    (exported / "terms.json").write_text(json.dumps([term, *terms[1:]]))
    assert "is no term" in (said := refused(exported, tmp_path)) or "not UTF-8" in said


def test_links_that_lead_outside(exported, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (exported / "backbone/vocab.txt").unlink(missing_ok=True)
    (exported / "backbone/vocab.txt").symlink_to(tmp_path / "secret.txt")
    assert "is a link to a file outside" in refused(exported, tmp_path)


def test_pipes(exported, tmp_path):
    (exported / "weights.bin").unlink()
    os.mkfifo(exported / "weights.bin")
    assert "not a plain file" in refused(exported, tmp_path)
    os.mkfifo(tmp_path / "index.ciff")
    with pytest.raises((LexigraftError, OSError), match="not a plain file"):
        import_index(tmp_path / "index.ciff", "ciff", tmp_path / "index")


def test_graphs_that_may_not_end(exported, tmp_path):
    graph = onnx.load(exported / "graph.onnx", load_external_data=False)
    graph.graph.node.append(onnx.helper.make_node("Loop", ["a", "b"], ["c"], body=onnx.GraphProto()))
    onnx.save(graph, exported / "graph.onnx")
    assert "has Loop" in refused(exported, tmp_path)
    (exported / "graph.onnx").write_bytes(b"no graph at all")
    assert "export the model again" in refused(exported, tmp_path)


def test_a_model_that_is_there_stays_where_an_import_fails(model, exported, tmp_path):
    there = tmp_path / "there"
    import_model(str(exported), there)
    before = read_manifest(there).fingerprint
    (tmp_path / "there.inference" / "notes.txt").write_text("somebody's")
    with pytest.raises(ArtifactError, match=r"notes\.txt"):
        import_model(str(exported), there)
    assert read_manifest(there).fingerprint == before


def test_names_of_folders_stay_at_home(tmp_path):
    assert public_name(str(tmp_path)) == public_name("a/b/c") == public_name("./a") == "local"
    assert (public_name("someone/model"), public_name("embedded")) == ("someone/model", "embedded")


def test_term_queries_drop_what_is_not_known():
    queries = TermQueries(Vocabulary(["car", "x"]))
    terms, weights = queries.encode("10^-3 car^2 x")
    assert (terms.tolist(), weights.tolist()) == ([0, 1], [2.0, 1.0])
    for odd in ("car^-3", "car^0", "car^1e39", "car^nan"):
        with pytest.raises(InputError, match="a weight is a number above 0"):
            queries.encode(odd)


def test_saved_retrievers_have_models(tmp_path):
    documents, queries = [Document("x", "", "kura mele"), Document("y", "", "bru, zan.")], [Query("q", "kura")]
    run = write_run(tmp_path / "run", documents, queries, {"test": [Qrel("q", "x", 1)]})
    Retriever.open(run / "judged/esplade/index").save(tmp_path / "saved")
    export("onnx", Wanted(tmp_path / "saved"), tmp_path / "of_saved")
    assert (tmp_path / "of_saved/graph.onnx").is_file()


def test_a_query_id_that_comes_twice(model, tmp_path):
    asked = Wanted(model, queries=[Query("1", "kura"), Query("1", "mele")])
    with pytest.raises(InputError, match="'1' comes twice"):
        export("ciff", asked, tmp_path / "out")
