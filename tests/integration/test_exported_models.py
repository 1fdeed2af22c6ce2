"""Real texts through exported models, by the programs that others run: the vectors, rankings and numbers are ours.

The model is three layers of the packaged MiniLM with own words and a head over the collection's words, grafted and not
trained: what it writes is what a trained one writes, with other numbers.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import Settings
from lexigraft.core.types import Ranking
from lexigraft.core.word_rule import WordRule
from lexigraft.data.collection import open_collection
from lexigraft.export.targets import Wanted, export
from lexigraft.learn.import_model import import_model
from lexigraft.learn.new_model import new_encoder
from lexigraft.measure.measures import judgements, measure
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import FORMAT_VERSION, KIND, open_encoder, save_encoder
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.lexicon import FORMAT_VERSION as LEXICON_FORMAT
from lexigraft.vocab.lexicon import KIND as LEXICON
from lexigraft.vocab.lexicon import learn, open_lexicon
from tests.unit.export.test_sentence_transformers import files_of

pytestmark = pytest.mark.integration

DATA = os.environ.get("LEXIGRAFT_DATA")
N_QUERIES, N_DOCUMENTS, BEST = 500, 2000, 100
TIED = 1e-4  # of scores around 20: both sides add some ten products of weights that differ by 1e-6 at most
ODD = [
    "",
    "?!",
    "the of",
    "Café naïve parseHTTPResponse os.path don't 3.14",
    "한국어 텍스트 שלום",
    "word " * 60,
    "a" * 300,
]

ALONE = """
import json, sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[4].split(","):
            raise ImportError(name + " is not to be used")
sys.meta_path.insert(0, Nowhere())
import numpy as np
given, out, folder = json.loads(open(sys.argv[1]).read()), sys.argv[2], sys.argv[3]
rows = {}
"""
BY_SENTENCE_TRANSFORMERS = (
    ALONE
    + """
from sentence_transformers import SparseEncoder
from sentence_transformers.sparse_encoder.evaluation import SparseInformationRetrievalEvaluator
model = SparseEncoder(folder, device="cpu", trust_remote_code=True)
documents = model.encode_document([*given["documents"].values(), *given["odd"]], batch_size=64).coalesce()
queries = model.encode_query([*given["queries"].values(), *given["odd"]], batch_size=64).coalesce()
for name, found in (("documents", documents), ("queries", queries)):
    rows[name] = np.concatenate([found.indices().numpy(), found.values().numpy()[None]])
relevant = {query: set(documents) for query, documents in given["relevant"].items()}
by = {"dot": model.similarity}  # as it would find out itself; then it need not encode all documents again
evaluator = SparseInformationRetrievalEvaluator(
    given["queries"], given["documents"], relevant, write_csv=False, score_functions=by
)
kept = documents.index_select(0, __import__("torch").arange(len(given["documents"])))
print(json.dumps(evaluator.compute_all_metrics(model, corpus_embeddings=kept)))
np.savez(out, **rows)
"""
)
BY_GRAPH = (
    ALONE
    + """
from pathlib import Path
sys.path.insert(0, folder)
from encode import Encoder
encoder = Encoder(Path(folder), bits=32, threads=1)
for name in ("documents", "queries"):
    found = encoder.encode([*given[name].values(), *given["odd"]], name == "queries")
    numbers = np.repeat(np.arange(len(found)), [len(terms) for terms, _ in found])
    rows[name] = np.stack([numbers, np.concatenate([t for t, _ in found]), np.concatenate([w for _, w in found])])
print("{}")
np.savez(out, **rows)
"""
)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Some queries of the dev split, their documents, and others up to a number."""
    collection = open_collection(Path(DATA) / "debian_desc2title")
    judged = judgements(collection.qrels("dev"))
    chosen = sorted(judged)[:N_QUERIES]
    relevant = {query: sorted(one for one, grade in judged[query].items() if grade > 0) for query in chosen}
    needed = {document for documents in relevant.values() for document in documents}
    documents, more = {}, N_DOCUMENTS - len(needed)
    for one in collection.documents():
        if one.doc_id in needed or more > 0:
            documents[one.doc_id] = one.contents
            more -= one.doc_id not in needed
    queries = {one.query_id: one.text for one in collection.queries() if one.query_id in relevant}
    return {"queries": queries, "documents": documents, "relevant": relevant, "odd": ODD}


@pytest.fixture(scope="module")
def model(given, tmp_path_factory):
    home, settings = tmp_path_factory.mktemp("model"), Settings()
    texts = [*given["documents"].values(), *given["queries"].values()]
    rule = WordRule(fold_accents=True, split_camel_case=True)
    with write_artifact(home / "lexicon", Manifest(LEXICON, LEXICON_FORMAT, {})) as folder:
        learn(texts, texts, load_backbone("embedded", 1).tokenizer, 20000, 2, "english", "english", folder, rule)
    encoder = new_encoder(load_backbone("embedded", 3), open_lexicon(home / "lexicon"), settings.model, 0)
    lengths = {"query_length": 20, "document_length": 16, "query_terms": 96, "document_terms": 160}
    encoder.meta = type(encoder.meta)(**{**encoder.meta.__dict__, **lengths})
    with write_artifact(home / "finetuned", Manifest(KIND, FORMAT_VERSION, {})) as folder:
        save_encoder(encoder, folder)
    return home / "finetuned"


@pytest.fixture(scope="module")
def ours(model, given):
    """{"queries", "documents"}: dense [texts, terms], as torch writes them."""
    network = TorchNetwork(open_encoder(model), exact=True)
    found = {}
    for name in ("queries", "documents"):
        rows = TextEncoder(network, name == "queries").encode([*given[name].values(), *ODD])
        found[name] = np.zeros((len(rows), network.meta.n_terms), np.float32)
        for row, (terms, weights) in enumerate(rows):
            found[name][row, terms] = weights
    return found


def by_others(program, folder, given, ours, tmp_path, absent):
    """(what the program prints, its vectors as `ours`), in a process that has not this package."""
    (tmp_path / "given.json").write_text(json.dumps(given))
    arguments = [tmp_path / "given.json", tmp_path / "out.npz", folder, ",".join(absent)]
    call = [sys.executable, "-I", "-W", "ignore", "-c", program, *map(str, arguments)]
    ended = subprocess.run(call, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = {}
    for name, (rows, terms, weights) in np.load(tmp_path / "out.npz").items():
        found[name] = np.zeros_like(ours[name])
        found[name][rows.astype(int), terms.astype(int)] = weights
    return json.loads(ended.stdout.splitlines()[-1]), found


def assert_same(found, ours, given):
    """Vectors within rounding, and the best documents of every query up to ties."""
    same = {name: with_the_same_ties(found[name], ours[name]) for name in ours}
    for name in ("queries", "documents"):
        np.testing.assert_allclose(found[name], same[name], rtol=1e-5, atol=1e-5)
    scores, theirs = (scores_of(one, given) for one in (same, found))
    best, their_best = np.sort(scores, axis=1)[:, ::-1], np.argsort(-theirs, axis=1, kind="stable")[:, :BEST]
    picked = np.take_along_axis(scores, their_best, axis=1)
    assert np.abs(picked - best[:, :BEST]).max() <= TIED  # rank by rank, what they put there scores the same with us
    assert (best[:, BEST - 1] > 0).mean() > 0.9


def with_the_same_ties(found, ours):
    """Our vectors. Where the cut to the heaviest terms falls between terms that weigh the same but for rounding, the
    other ones were kept: such rows are taken as they were found. They are few."""
    only_one = (found > 0) != (ours > 0)
    rows = np.flatnonzero(only_one.any(axis=1))
    assert len(rows) <= 0.005 * len(ours)
    for row in rows:
        lightest = ours[row][ours[row] > 0].min()
        assert np.abs(np.maximum(found[row], ours[row])[only_one[row]] - lightest).max() <= 1e-5
    kept = ours.copy()
    kept[rows] = found[rows]
    return kept


def scores_of(vectors, given):
    return vectors["queries"][: len(given["queries"])] @ vectors["documents"][: len(given["documents"])].T


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
def test_sentence_transformers_ranks_and_measures_as_we_do(model, given, ours, tmp_path):
    export("sentence-transformers", Wanted(model), tmp_path / "exported")
    measured, found = by_others(BY_SENTENCE_TRANSFORMERS, tmp_path / "exported", given, ours, tmp_path, ("lexigraft",))
    assert_same(found, ours, given)
    names, scores = np.array(list(given["documents"])), scores_of(ours, given)
    rankings = [
        Ranking(query, tuple(names[np.argsort(-row, kind="stable")[:BEST]]), ())
        for query, row in zip(given["queries"], scores, strict=True)
    ]
    judged = {query: dict.fromkeys(documents, 1) for query, documents in given["relevant"].items()}
    pairs = {"RR@10": "mrr@k", "nDCG@10": "ndcg@k", "R@10": "recall@k"}
    for own in measure(rankings, judged, list(pairs)):
        value = float(np.mean(list(own.per_query.values())))
        assert value > 0.2
        assert measured["dot"][pairs[own.measure]]["10"] == pytest.approx(value, abs=1e-4), own.measure
    import_model(str(tmp_path / "exported"), tmp_path / "back")
    export("sentence-transformers", Wanted(tmp_path / "back"), tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "exported")


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
def test_onnxruntime_ranks_as_we_do(model, given, ours, tmp_path):
    export("onnx", Wanted(model), tmp_path / "exported")
    absent = ("lexigraft", "torch", "transformers", "sentence_transformers", "numba")
    _, found = by_others(BY_GRAPH, tmp_path / "exported", given, ours, tmp_path, absent)
    assert_same(found, ours, given)
    import_model(str(tmp_path / "exported"), tmp_path / "back")
    export("onnx", Wanted(tmp_path / "back"), tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "exported")
