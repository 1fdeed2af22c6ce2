"""SPLADE-doc, whose queries no model writes, and uniCOIL, whose weights are of a text's own words: from text to results
that are explained, by the commands (H6)."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import VocabularyMismatchError
from lexigraft.core.types import Vocabulary
from lexigraft.index.store import open_index
from lexigraft.model.encoder import open_encoder
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors.model_queries import ModelQueryEncoder
from lexigraft.vectors.query_encoder import open_query_encoder
from lexigraft.whole_run import run as pipeline_run
from tests.e2e.test_heads import collection, options  # noqa: F401
from tests.families import write_backbone

SPLADE_DOC = (
    "model.queries=words", "model.own_words=0", "finetune.steps=30", "finetune.learning_rate=0.003",
    "finetune.flops_d=0.001", "finetune.validate_every=10", "finetune.checkpoint_every=10",
)  # fmt: skip
PLAIN_SPLADE_DOC = ("model.head=plain", "model.pooled=all", *SPLADE_DOC)
UNICOIL = (
    "model.head=unicoil", "model.own_words=0", "pretrain.steps=0", "finetune.steps=30", "finetune.learning_rate=0.003",
    "finetune.validate_every=10", "finetune.head_rate=1",
)  # fmt: skip


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return write_backbone("bert", tmp_path_factory.mktemp("bert"), loud=5.0)


def made(collection, backbone, out, *changes):  # noqa: F811
    given = options(collection, backbone, out, *changes)
    settings = load_settings(None, [given[at + 1] for at, part in enumerate(given) if part == "--set"])
    pipeline_run(str(collection), out, settings)
    return out


@pytest.fixture(scope="module")
def splade_doc(backbone, collection, tmp_path_factory):  # noqa: F811
    out = tmp_path_factory.mktemp("splade-doc") / "run"
    return made(collection, backbone, out, *PLAIN_SPLADE_DOC)


@pytest.fixture(scope="module")
def unicoil(backbone, collection, tmp_path_factory):  # noqa: F811
    return made(collection, backbone, tmp_path_factory.mktemp("unicoil") / "run", *UNICOIL)


def opened(run):
    place = run / "judged/esplade/index"
    index = open_index(place)
    return index, open_query_encoder(index.meta.query_encoder, index.vocabulary, place)


QUERIES = ["kura, kure kura?", "", "tosi [MASK] [CLS] ☃", "bru\ud800 zan", "mele " * 50]


def test_queries_are_their_distinct_terms(splade_doc):
    index, encoder = opened(splade_doc)
    terms, weights = encoder.encode("kura, kure kura?")
    assert {index.vocabulary.terms[term] for term in terms} == {"kur", "##a", "##e", ",", "?"}
    assert weights.tolist() == [1] * 5
    for text, (many_terms, many_weights) in zip(QUERIES, encoder.encode_all(QUERIES), strict=True):
        terms, weights = encoder.encode(text)
        assert (terms.tolist(), weights.tolist()) == (many_terms.tolist(), many_weights.tolist())
        assert (np.diff(terms) > 0).all()


def test_they_are_those_that_training_saw(splade_doc):
    _, encoder = opened(splade_doc)
    trained = ModelQueryEncoder(TorchNetwork(open_encoder(splade_doc / "model/finetuned")))
    for text, (terms, weights) in zip(QUERIES, trained.encode_all(QUERIES), strict=True):
        assert (terms.tolist(), weights.tolist()) == tuple(part.tolist() for part in encoder.encode(text))


ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
SEARCH = """
import sys
from lexigraft.cli.app import app
app(sys.argv[1:], standalone_mode=False)
bad = [name for name in ("torch", "transformers", "scipy", "matplotlib", "numba") if name in sys.modules]
print("imported:", bad, file=sys.stderr)
"""


def test_search_never_imports_torch_nor_anything_as_large(splade_doc):
    call = [sys.executable, "-c", SEARCH, "search", "--run", str(splade_doc), "kura kure", "--k", "3", "--json"]
    answer = subprocess.run(
        call, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert "imported: []" in answer.stderr
    assert len(json.loads(answer.stdout)["hits"]) == 3


@pytest.mark.parametrize("name", ["splade_doc", "unicoil"])
def test_results_are_explained(name, request, lexigraft):
    run = request.getfixturevalue(name)
    hits = lexigraft("search", "--run", run, "kura kure", "--k", 5, "--json").json["hits"]
    assert hits
    why = lexigraft("explain", "--run", run, "kura kure", hits[0]["doc_id"], "--json").json
    assert sum(item["contribution"] for item in why["contributions"]) == pytest.approx(hits[0]["score"])


def test_statistics_of_their_indexes(splade_doc, unicoil, lexigraft):
    """What a text does not hold, only SPLADE adds to it; every word of this collection is split."""
    chosen = ("--run", splade_doc, "--run", unicoil, "--system", "esplade", "--runs", 1, "--k", 5, "--json")
    answer = lexigraft("index", "stats", *chosen)
    assert answer.status == 0, answer.stderr
    splade, weighed = answer.json["systems"]
    assert splade["expansion_terms"] > 0
    assert splade["document_terms"] > splade["expansion_terms"]
    assert weighed["expansion_terms"] == 0
    assert splade["split_queries"] == weighed["split_queries"] == 1.0
    timed = lexigraft("bench", "text", *chosen)
    assert timed.status == 0, timed.stderr
    assert len(timed.json["systems"]) == 2


def test_terms_of_a_query_are_its_own(splade_doc, lexigraft):
    terms = lexigraft("explain", "--text", "kura", "--run", splade_doc, "--system", "esplade", "--json").json["terms"]
    assert {(item["term"], item["own"], item["from"]["kind"]) for item in terms} == {
        ("kur", True, "own"), ("##a", True, "own"),
    }  # fmt: skip


def test_unicoil_weighs_what_is_there_and_nothing_else(unicoil, collection):  # noqa: F811
    encoder = open_encoder(unicoil / "model/finetuned")
    found = ModelQueryEncoder(TorchNetwork(encoder))
    for text in ("kura, mele?", "bru bru zan", "☃", ""):
        terms, weights = found.encode(text)
        assert set(terms.tolist()) <= set(found.own_terms(text).tolist())
        assert (weights > 0).all()
    assert len(found.encode("kura, mele?")[0]) > 2
    traced = found.trace_query("kura kura", found.encode("kura kura")[0])
    assert {source.kind for source in traced.sources.values()} == {"token"}
    assert json.loads((unicoil / "model/finetuned/encoder.json").read_text())["head"] == "unicoil"


@pytest.mark.integration  # several trainings
def test_training_is_repeatable_and_not_repeated(splade_doc, unicoil, backbone, collection, tmp_path):  # noqa: F811
    for run, changes in ((splade_doc, PLAIN_SPLADE_DOC), (unicoil, UNICOIL)):
        again = made(collection, backbone, tmp_path / run.parent.name, *changes)
        trained = [at / "model/finetuned/model.safetensors" for at in (run, again)]
        assert trained[0].read_bytes() == trained[1].read_bytes()
        when = trained[1].stat().st_mtime_ns
        made(collection, backbone, again, *changes)
        assert trained[1].stat().st_mtime_ns == when


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["model.head=unicoil"], "model.own_words = 2.0 is not allowed: 0 with model.head = unicoil"),
        (["model.head=unicoil", "model.own_words=0", "model.queries=words"], "model.queries = 'words' is not allowed"),
        (["model.head=unicoil", "model.own_words=0"], "trains a head to name terms"),
        (["model.queries=words", "finetune.flops_q=1"], "finetune.flops_q = 1.0 presses on queries"),
        (["model.queries=word"], "model.queries = 'word' is not allowed: one of model, words"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(changes, said, backbone, collection, tmp_path, lexigraft):  # noqa: F811
    answer = lexigraft("finetune", *options(collection, backbone, tmp_path / "run", *changes))
    assert (answer.status, said in " ".join(answer.stderr.split())) == (2, True), answer.stderr


def test_an_index_of_another_vocabulary_is_refused(splade_doc):
    index, _ = opened(splade_doc)
    other = Vocabulary([*index.vocabulary.terms[:-1], "other"])
    with pytest.raises(VocabularyMismatchError):
        open_query_encoder(index.meta.query_encoder, other, splade_doc / "judged/esplade/index")


def test_words_of_a_grafted_vocabulary_need_no_model_either(backbone, collection, tmp_path):  # noqa: F811
    run = made(collection, backbone, tmp_path / "run", *SPLADE_DOC)
    index, encoder = opened(run)
    terms, weights = encoder.encode("kura, the kure kura?")
    assert [index.vocabulary.terms[term] for term in terms] == sorted(
        ("kura", "kure"), key=lambda word: index.vocabulary.id_of[word]
    )
    assert weights.tolist() == [1, 1]


def test_epochs_are_passes_over_the_pairs(backbone, collection, tmp_path, lexigraft):  # noqa: F811
    call = options(collection, backbone, tmp_path / "run", *UNICOIL, "finetune.epochs=1.5", "finetune.validate_every=0")
    assert lexigraft("finetune", *call).status == 0
    history = json.loads((tmp_path / "run/model/finetuned/history.json").read_text())
    assert len(history) == 9  # 50 pairs in batches of 8: 6 a pass, whatever finetune.steps says
    again = [part.replace("finetune.steps=30", "finetune.steps=31") for part in map(str, call)]
    assert "finetune: done before" in lexigraft("finetune", *again).stderr


def test_queries_without_weights_are_not_cut(backbone, collection, tmp_path):  # noqa: F811
    """Terms that all weigh 1 have no heaviest, so only documents are pruned."""
    budgets = "prune.budgets=[[0,0],[2,3],[0,3]]"
    run = made(collection, backbone, tmp_path / "run", *PLAIN_SPLADE_DOC, "finetune.steps=2", budgets)
    rows = json.loads((run / "report.json").read_text())["rows"]
    kept = [(row["qk"], row["dk"]) for row in rows if row["system"] == "esplade"]
    assert kept[:2] == [(0, 0), (0, 3)]
    assert all(qk == 0 for qk, _ in kept)  # that of the operating point, too


def test_impacts_are_no_logits(unicoil, collection, lexigraft):  # noqa: F811
    answer = lexigraft("model", "logits", "--model", unicoil, "--data", collection)
    assert (answer.status, "no logits of terms" in answer.stderr) == (2, True), answer.stderr
