"""No process that only searches, explains or encodes by a trained model loads torch or transformers, whatever the model
is; and one question loads nothing else that takes long."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from lexigraft.cli.app import app
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.inference.meta import BY_TABLE, BY_WORDS, UNICOIL
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.impact import ImpactHead
from lexigraft.vocab.lookup import own_terms_table
from tests.families import write_backbone
from tests.unit.model.test_inference_form import TERMS, grafted, plain, saved

FIRST, OTHERS = ("grafted", BY_TABLE), ("sum", "cls", "plain", "unicoil", BY_WORDS)
KINDS = [*FIRST, *(pytest.param(kind, marks=pytest.mark.integration) for kind in OTHERS)]  # each takes ten seconds
TEXTS = ("kur mel tos", "vip zan of kur", "fod gix mela", "bru kura melmel")
DOCUMENTS = [Document(f"d{number}", "", text) for number, text in enumerate(TEXTS, 1)]
QUESTION = "kur of mela"
MODELS, SLOW = ("torch", "transformers", "onnx"), ("scipy", "matplotlib", "numba", "pydantic")
COMMAND = f"""
import sys
from lexigraft.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print("imported:", [name for name in {MODELS + SLOW} if name in sys.modules], file=sys.stderr)
"""
PROGRAM = f"""
import sys
import lexigraft as lg
index, model, data = sys.argv[1:]
retriever = lg.Retriever.open(index)
assert len(retriever.search_many(["{QUESTION}", "bru", "mel"])) == 3
assert retriever.answer("{QUESTION}").hits
encoder = lg.SparseEncoder.open(model)
assert encoder.encode_documents(["kur mel", "gix"]).shape == encoder.encode_queries(["kur", "bru"]).shape
print("imported:", [name for name in {MODELS} if name in sys.modules], file=sys.stderr)
"""


def made(kind, folder):
    """A model of a kind, untrained."""
    backbone = write_backbone("bert", folder / "backbone", loud=20.0)
    if kind == "plain":
        return saved(plain(backbone), folder / "model", pooled="all")
    if kind == "unicoil":
        opened = load_backbone(str(backbone))
        head = ImpactHead(torch.linspace(-0.2, 0.3, opened.width)[None], torch.full((1,), 1.0), opened.is_term())
        return saved(SparseEncoder(opened, head, opened.subwords(), UNICOIL), folder / "model")
    encoder = grafted(backbone)
    if kind == BY_TABLE:
        encoder.set_table(own_terms_table(np.linspace(0.5, 3, len(TERMS))))
    queries = {"queries": kind} if kind in (BY_WORDS, BY_TABLE) else {}
    return saved(encoder, folder / "model", pooling=kind if kind in ("sum", "cls") else "max", **queries)


@pytest.fixture(scope="module", params=KINDS)
def searched(request, tmp_path_factory):
    """A folder with a model of each kind, a collection, and the index that the model's first use leaves."""
    folder = tmp_path_factory.mktemp(request.param)
    made(request.param, folder)
    write_collection(folder / "data", DOCUMENTS)
    (folder / "queries.tsv").write_text(f"q1\t{QUESTION}\nq2\tbru\n")
    for call in (
        ("encode", "--data", folder / "data", "--model", folder / "model", "--out", folder / "vectors"),
        ("index", "--vectors", folder / "vectors", "--data", folder / "data", "--out", folder / "index"),
    ):
        app([*map(str, call)], standalone_mode=False)
    return folder


def imported(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "run by torch" not in done.stderr
    return done.stdout, done.stderr.rpartition("imported: ")[2].strip()


def test_one_question(searched):
    answer, found = imported(COMMAND, "search", "--index", searched / "index", QUESTION, "--json")
    assert json.loads(answer)["hits"]
    assert found == "[]"


def test_an_explanation(searched):
    answer, found = imported(COMMAND, "explain", "--index", searched / "index", QUESTION, "d1", "--json")
    assert "contributions" in json.loads(answer)
    assert not set(MODELS) & set(json.loads(found.replace("'", '"')))


def test_many_queries_and_a_program(searched, tmp_path):
    call = ("search", "--index", searched / "index", "--queries", searched / "queries.tsv", "--out", tmp_path / "run")
    _, found = imported(COMMAND, *call)
    assert not set(MODELS) & set(json.loads(found.replace("'", '"')))
    assert imported(PROGRAM, searched / "index", searched / "model", searched / "data")[1] == "[]"
