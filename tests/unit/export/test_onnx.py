"""Models as graphs with a program that uses them: its vectors are ours, and Lexigraft is not needed for them."""

import json
import subprocess
import sys

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, LexigraftError
from lexigraft.core.word_rule import WordRule
from lexigraft.export.targets import Wanted, export
from lexigraft.inference.meta import BY_TABLE, BY_WORDS
from lexigraft.learn.import_model import import_model
from lexigraft.model.encoder import open_encoder
from lexigraft.vectors.open_network import open_network
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.lookup import own_terms_table
from tests.families import write_backbone
from tests.small_models import grafted, plain, saved, unicoil
from tests.unit.export.test_sentence_transformers import TEXTS, files_of, ours, some_always

ODD = [*TEXTS, "kura mel\x1etos vip. bru", "kúrMel Käse don't 3.14", "한국"]
# Neither this package nor torch may be asked for; the program is run as anybody would, from its own folder.
ALONE = """
import json, sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("lexigraft", "torch", "transformers", "sentence_transformers"):
            raise ImportError(name + " is not to be used")
sys.meta_path.insert(0, Nowhere())
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from encode import Encoder
texts, encoder = json.loads(sys.stdin.read()), Encoder(Path(sys.argv[1]), bits=32, threads=1)
sides = {side: encoder.encode(texts, side == "queries") for side in ("queries", "documents")}
rows = {side: [[terms.tolist(), weights.tolist()] for terms, weights in found] for side, found in sides.items()}
print(json.dumps(rows))
"""


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return write_backbone("bert", tmp_path_factory.mktemp("bert"), loud=20.0)


MODELS = {
    "grafted": (grafted, {"query_terms": 4, "document_terms": 6}),
    "sum": (grafted, {"pooling": "sum", "query_prompt": "kur: "}),
    "cls": (grafted, {"pooling": "cls", "queries": BY_WORDS}),
    "expansions": (grafted, {"expansion_length": 4}),
    "plain": (plain, {"pooled": "all"}),
    "table": (plain, {"queries": BY_TABLE}),
    "unicoil": (unicoil, {}),
    "rule": (lambda folder: grafted(folder, rule=WordRule(True, True), stemmer="german"), {}),
}


@pytest.fixture(scope="module", params=some_always(MODELS, ("grafted", "table", "rule")))
def model(request, backbone, tmp_path_factory):
    make, meta = MODELS[request.param]
    encoder = make(backbone)
    if meta.get("queries") == BY_TABLE:
        encoder.set_table(own_terms_table(np.linspace(1.0, 2.0, len(encoder.vocabulary))))
    return saved(encoder, tmp_path_factory.mktemp("model") / "model", **meta)


def alone(folder, texts):
    """What the exported program writes, in a process of its own."""
    call = [sys.executable, "-I", "-c", ALONE, str(folder)]
    ended = subprocess.run(call, input=json.dumps(texts), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_program_writes_our_vectors_without_us(model, tmp_path):
    export("onnx", Wanted(model), tmp_path / "out")
    for side, rows in alone(tmp_path / "out", ODD).items():
        expected = ours(model, ODD, side == "queries")
        found = np.zeros_like(expected)
        for row, (terms, weights) in enumerate(rows):
            assert terms == sorted(terms)
            found[row, terms] = weights
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
        assert (expected > 0.1).sum() > 3


def test_it_comes_back_as_the_same_graph(model, tmp_path):
    export("onnx", Wanted(model), tmp_path / "out")
    import_model(str(tmp_path / "out"), tmp_path / "back")
    for are_queries in (True, False):
        pairs = [TextEncoder(open_network(path, 32), are_queries).encode(ODD) for path in (model, tmp_path / "back")]
        for (left_terms, left), (right_terms, right) in zip(*pairs, strict=True):
            assert np.array_equal(left_terms, right_terms) and np.array_equal(left, right)
    export("onnx", Wanted(tmp_path / "back"), tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_a_graph_is_not_a_model_of_torch(backbone, tmp_path):
    path = saved(grafted(backbone), tmp_path / "model")
    export("onnx", Wanted(path), tmp_path / "out")
    import_model(str(tmp_path / "out"), tmp_path / "back")
    with pytest.raises(ArtifactError, match="was brought in as a graph"):
        open_encoder(tmp_path / "back")
    with pytest.raises(ArtifactError, match="was brought in as a graph"):
        export("sentence-transformers", Wanted(tmp_path / "back"), tmp_path / "other")


def test_a_damaged_graph_is_not_taken(backbone, tmp_path):
    path = saved(grafted(backbone), tmp_path / "model")
    export("onnx", Wanted(path), tmp_path / "out")
    for name in ("graph.onnx", "weights.bin", "inference.json", "tokenizer.json", "graph8.onnx"):
        whole = (tmp_path / "out" / name).read_bytes()
        (tmp_path / "out" / name).write_bytes(whole[:100])
        with pytest.raises(LexigraftError) as error:
            import_model(str(tmp_path / "out"), tmp_path / "back")
        assert "\n" not in str(error.value)
        assert not (tmp_path / "back").exists()
        (tmp_path / "out" / name).write_bytes(whole)


def test_only_a_fine_tuned_model_has_a_graph(backbone, tmp_path):
    path = saved(grafted(backbone), tmp_path / "model", query_length=0, document_length=0)
    with pytest.raises(LexigraftError, match="was pre-trained and not fine-tuned"):
        export("onnx", Wanted(path), tmp_path / "out")
    with pytest.raises(LexigraftError, match="--form = 'full' has no meaning for onnx"):
        export("onnx", Wanted(path, form="full"), tmp_path / "out")
