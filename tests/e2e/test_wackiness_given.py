"""`lexigraft wackiness` of systems without a run: a model, an index, generated text, each with a collection."""

import json
import shutil

import numpy as np
import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.index.store import open_index
from lexigraft.stages.standalone import encode, index_vectors
from lexigraft.study.wackiness.given import GivenSystems
from lexigraft.study.wackiness.measure import measure_wackiness
from lexigraft.study.wackiness.settings import WackinessSettings
from lexigraft.vectors.store import open_vectors
from tests.conftest import DOCUMENTS, QRELS, QUERIES
from tests.e2e.test_model import backbone, collection, finished  # noqa: F401  (fixtures)

SETTINGS = WackinessSettings(documents=20_000, k=10)


def write_texts(file, texts):
    """(id, text) pairs as a file of generated text."""
    file.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts))
    return file


pytestmark = pytest.mark.integration  # each takes long


@pytest.fixture(scope="module")
def indexes(finished, tmp_path_factory):  # noqa: F811
    """Two indexes of the run's vectors, the second with its documents in an order of its own."""
    folder = tmp_path_factory.mktemp("indexes")
    for name, options in (("alone", []), ("reordered", ["index.reorder=true"])):
        index_vectors(finished / "judged/esplade/vectors", folder / name, load_settings(None, options))
    return folder


def test_a_model_or_an_index_alone_measures_like_its_run(finished, collection, indexes, tmp_path):  # noqa: F811
    given = GivenSystems([finished / "model" / "finetuned"], [indexes / "alone", indexes / "reordered"])
    out = tmp_path / "wack"
    found = measure_wackiness([finished], out, SETTINGS, data=str(collection), given=given)
    assert [entry["name"] for entry in found["systems"]] == ["run", "finetuned", "alone", "reordered"]
    assert found["systems"][0]["run"] == str(finished)
    assert found["systems"][1]["model"] == str(finished / "model" / "finetuned")
    assert found["systems"][3]["index"] == str(indexes / "reordered")
    for side, entries in found["sides"].items():
        assert entries[0]["inputs"] == (140 if side == "queries" else 160)
        for entry in entries[1:]:
            # Impacts have 16 bits: documents read back from an index weigh a little else, and may find others.
            tolerance = 0.02 if side == "documents" and "finetuned" not in entry["name"] else 1e-9
            assert entry["areas"] == pytest.approx(entries[0]["areas"], abs=tolerance), (side, entry["name"])
            assert entry["expansion_terms_an_input"] == pytest.approx(entries[0]["expansion_terms_an_input"])
    whole = found["removal"][0]
    for entry in found["removal"][1:]:
        for measure, values in entry["measures"].items():
            assert values["full"] == pytest.approx(whole["measures"][measure]["full"])
            assert values["none"] == pytest.approx(whole["measures"][measure]["none"])
    # Pruning by weight is a run's; what is dropped by wackiness is there for all.
    assert {row["name"] for row in found["pruning"] if row["dropped"] == "from both"} == {
        "run", "finetuned", "alone", "reordered",
    }  # fmt: skip
    assert {row["name"] for row in found["pruning"] if row["dropped"] == "by weight"} == {"run"}


def test_an_index_is_read_back_as_its_vectors(finished, indexes, collection, tmp_path):  # noqa: F811
    out = tmp_path / "wack"
    given = GivenSystems(indexes=[indexes / "reordered"])
    measure_wackiness((), out, WackinessSettings(k=10, removal=False), data=str(collection), given=given)
    before, after = open_vectors(finished / "judged/esplade/vectors"), open_vectors(out / "reordered" / "vectors")
    index = open_index(indexes / "reordered")
    assert list(index.doc_ids) != list(before.matrix.row_ids), "or nothing is put in order here"
    assert list(after.matrix.row_ids) == list(before.matrix.row_ids)
    assert list(after.titles) == list(before.titles)
    for row in range(before.matrix.n_rows):
        expected = dict(zip(*(part.tolist() for part in before.matrix.row(row)), strict=True))
        terms, weights = after.matrix.row(row)
        assert set(terms.tolist()) <= set(expected)
        assert weights == pytest.approx([expected[term] for term in terms.tolist()], abs=index.meta.scale)


def test_what_has_no_run_is_measured_elsewhere_too(finished, indexes, collection, tmp_path):  # noqa: F811
    other = tmp_path / "elsewhere"
    write_collection(other, DOCUMENTS, QUERIES, QRELS)
    given = GivenSystems([finished], [indexes / "reordered"])  # a run's folder stands for its model
    settings = WackinessSettings(queries=20, k=10)
    found = measure_wackiness(
        [finished], tmp_path / "wack", settings, data=str(collection), others=[str(other)], given=given
    )
    assert [entry["name"] for entry in found["systems"]] == ["run", "run-2", "reordered"]
    elsewhere = [entry for entry in found["removal"] if entry["domain"] == "out-of-domain"]
    assert [(entry["name"], entry["collection"]) for entry in elsewhere] == [
        ("run", "elsewhere"), ("run-2", "elsewhere"), ("reordered", "elsewhere"),
    ]  # fmt: skip
    for entry in elsewhere[1:]:
        assert entry["measures"] == elsewhere[0]["measures"]


def test_an_imported_model_and_a_second_call(backbone, collection, tmp_path, lexigraft):  # noqa: F811
    assert lexigraft("model", "import", backbone, "--out", tmp_path / "splade").status == 0
    call = (
        "wackiness", "--model", tmp_path / "splade", "--data", collection, "--out", tmp_path / "wack", "--k", 10,
        "--removal-queries", 5, "--json",
    )  # fmt: skip
    answer = lexigraft(*call)
    assert answer.status == 0, answer.stderr
    (entry,) = answer.json["sides"]["queries"]
    assert (entry["name"], entry["inputs"]) == ("splade", 140)
    assert 0 < entry["W-AUC"] <= 1
    assert answer.json["removal"][0]["queries"] == 5
    again = lexigraft(*call)
    assert again.json == answer.json
    assert again.stderr.count("done before") == 5  # vectors, index, queries, removal, pruning


def test_generated_text_expands_queries_of_bm25(collection, tmp_path):  # noqa: F811
    """Of the training queries, half have text: two words of documents each, and one word that no document holds."""
    opened = open_collection(collection)
    words = {document.doc_id[1:]: document.text for document in opened.documents()}
    queries = list(opened.queries())
    some = [query for query in queries if int(query.query_id[1:]) % 2 == 0]
    file = write_texts(
        tmp_path / "query2doc.jsonl",
        [(query.query_id, " ".join([*words[query.query_id[1:]].split()[:2], "unheardof"])) for query in some],
    )
    settings, out = WackinessSettings(k=10), tmp_path / "wack"
    given = GivenSystems(query_texts=[file])
    found = measure_wackiness((), out, settings, data=str(collection), given=given)
    (entry,) = found["sides"]["queries"]
    assert (entry["name"], entry["which"]) == ("bm25+query2doc", "training queries with generated text")
    assert entry["inputs"] == 70
    # A word that no document holds cannot be searched with; the other two are left.
    assert entry["expansion_terms_an_input"] == pytest.approx(2)
    removal = found["removal"][0]
    # A query shares no word with its document and is asked five times over: the half with text finds it, and late.
    recall = removal["measures"]["R@1000"]
    assert (removal["queries"], recall["full"], recall["none"]) == (20, 0.5, 0)
    made = json.loads((out / "bm25+query2doc" / "queries" / "manifest.json").read_text())
    assert set(made["config"]) >= {"generated", "repeats"}
    # Another text is another result, in the same folder.
    write_texts(file, [(query.query_id, words[query.query_id[1:]]) for query in some])
    (longer,) = measure_wackiness((), out, settings, data=str(collection), given=given)["sides"]["queries"]
    assert longer["expansion_terms_an_input"] > entry["expansion_terms_an_input"]


def test_generated_text_expands_documents_of_bm25(collection, tmp_path, lexigraft):  # noqa: F811
    opened = open_collection(collection)
    asked = {query.query_id[1:]: query.text for query in opened.queries()}
    file = write_texts(tmp_path / "t5.jsonl", [(f"d{number}", text) for number, text in asked.items()])
    call = ("wackiness", "--generated-documents", file, "--data", collection, "--out", tmp_path / "wack", "--json")
    refused = lexigraft(*call)
    assert refused.status == 2
    assert "give --documents --queries 0" in refused.stderr
    answer = lexigraft(*call, "--documents", "--queries", 0, "--k", 10)
    assert answer.status == 0, answer.stderr
    (entry,) = answer.json["sides"]["documents"]
    assert (entry["name"], entry["inputs"]) == ("bm25+t5", 160)
    assert entry["expansion_terms_an_input"] == pytest.approx(3)  # the three words of the document's query
    assert not np.isnan(entry["W-AUC"])


def test_an_index_of_passages_is_refused(finished, collection, tmp_path):  # noqa: F811
    cut = load_settings(None, ["data.passage_words=2", "data.passage_overlap=0"])
    encode(str(collection), finished / "model" / "finetuned", tmp_path / "vectors", cut)
    index_vectors(tmp_path / "vectors", tmp_path / "index", cut)
    given = GivenSystems(indexes=[tmp_path / "index"])
    with pytest.raises(SettingError, match="is an index of passages"):
        measure_wackiness((), tmp_path / "wack", SETTINGS, data=str(collection), given=given)


def test_a_model_that_was_moved_is_found_where_it_is_given(finished, collection, tmp_path):  # noqa: F811
    made = []
    for seed, place in enumerate(("before", "before", "after")):  # another seed draws queries, and encodes them, anew
        model = tmp_path / place / "splade"
        if not model.exists():
            shutil.rmtree(tmp_path / "before", ignore_errors=True)
            shutil.copytree(finished / "model" / "finetuned", model)
        settings = WackinessSettings(queries=20, k=10, seed=seed)
        measure_wackiness((), tmp_path / "wack", settings, data=str(collection), given=GivenSystems([model]))
        made.append((tmp_path / "wack/splade/vectors/manifest.json").stat().st_mtime_ns)
    assert made[0] == made[1] < made[2]  # documents are encoded anew where the model lies elsewhere, and only there


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to measure was given"),
        (["--model", "{model}"], "name the one to measure on: --data"),
        (["--model", "nowhere", "--data", "{data}"], "neither a model nor a run with one"),
        (["--model", "{pretrained}", "--data", "{data}"], "pre-trained and not fine-tuned"),
        (["--model", "{model}", "--data", "{data}", "--system", "bm25"], "--system names a system of a run"),
        (["--model", "{model}", "--data", "nowhere"], "no collection at nowhere"),
        (["--index", "nowhere", "--data", "{data}"], "nowhere"),
        (["--index", "{bm25}", "--data", "{data}"], "no expansion terms"),
        (["--index", "{index}", "--data", "{fewer}"], "documents and fewer 159"),
        (["--index", "{index}", "--data", "{more}"], "has no document 'new' of more"),
        (["--generated", "nowhere.jsonl", "--data", "{data}"], "there is no file nowhere.jsonl"),
        (["--generated", "{empty}", "--data", "{data}"], "is empty"),
        (["--generated", "{strange}", "--data", "{data}"], "no text was generated for any of the 160 queries"),
        (["--generated", "{strange}", "--data", "{data}", "--documents"], "leave out --documents"),
    ],
)
def test_bad_input(arguments, message, finished, collection, indexes, tmp_path, lexigraft):  # noqa: F811
    for name in ("fewer", "more"):
        shutil.copytree(collection, tmp_path / name)
        (corpus,) = (tmp_path / name).glob("corpus.jsonl*")
        lines = corpus.read_text().splitlines(keepends=True)
        added = json.dumps({"_id": "new", "title": "", "text": "kura"}) + "\n"
        corpus.write_text("".join(lines[:-1] if name == "fewer" else [*lines, added]))
    (tmp_path / "empty.tsv").touch()
    places = {
        "data": collection, "model": finished / "model/finetuned", "pretrained": finished / "model/pretrained",
        "bm25": finished / "judged/bm25/index", "index": indexes / "alone", "fewer": tmp_path / "fewer",
        "more": tmp_path / "more", "empty": tmp_path / "empty.tsv",
        "strange": write_texts(tmp_path / "strange.jsonl", [("other", "kura")]),
    }  # fmt: skip
    filled = [argument.format(**places) for argument in arguments]
    answer = lexigraft("wackiness", "--out", tmp_path / "wack", *filled)
    assert answer.status == 2, answer.stderr
    assert message in answer.stderr
