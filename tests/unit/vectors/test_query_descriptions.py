"""What an index says of its encoder, made by somebody else with right checksums: one line that names the file."""

import json
import shutil

import pytest

from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, Vocabulary
from lexigraft.index.live.opening import create_live
from lexigraft.retrieve.retriever import Retriever
from lexigraft.vectors.query_encoder import open_query_encoder
from tests.fuzz.crafted_world import matrix_of, write_index, write_vectors
from tests.fuzz.crafting import fit_checksums

WORDS = {
    "kind": "model", "model": "model", "fingerprint": "x", "queries": "words", "subwords": True, "special": [0],
    "unknown": 1,
}  # fmt: skip
BM25 = {"kind": "bm25", "k1": 1.2, "b": 0.75, "stopwords": "none", "stemmer": "none"}


def without(description, name):
    return {key: value for key, value in description.items() if key != name}


CRAFTED = [
    *(without(WORDS, name) for name in ("model", "subwords", "special", "unknown")),
    {**WORDS, "unknown": "many"},
    {**WORDS, "unknown": 2**40},
    {**WORDS, "special": 3},
    {**WORDS, "special": ["a"]},
    {**WORDS, "special": [2**40]},
    {**WORDS, "subwords": "yes"},
    {**WORDS, "queries": {}},
    {**WORDS, "bits": [8]},
    {**WORDS, "model": "a\0b"},
    {**BM25, "k1": "much"},
    {**BM25, "k1": -3},
    {**BM25, "b": None},
    {**BM25, "stemmer": 3},
    {**BM25, "stemmer": "klingon"},
    {**BM25, "stopwords": []},
    {**BM25, "nobody": 1},
    {**BM25, "words": 7},
    {**BM25, "words": {"fold": True}},
    {**BM25, "words": {"fold_accents": "yes"}},
    {"kind": ["bm25"]},
    {},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("described")
    write_index(folder / "index", write_vectors(folder / "vectors", matrix_of(40, 1)), 8, 65536)
    return folder / "index"


@pytest.mark.parametrize("description", CRAFTED, ids=str)
def test_an_index_that_describes_no_encoder_is_one_line(index, tmp_path, description):
    shutil.copytree(index, tmp_path / "index")
    write_description(tmp_path / "index", "meta.json", description)
    with pytest.raises(ArtifactError) as raised:
        Retriever.open(tmp_path / "index").search("word1")
    require_one_line(raised.value, tmp_path / "index/meta.json")


@pytest.mark.parametrize(
    "description", [without(WORDS, "special"), {**BM25, "kind": "bm25 live", "stemmer": "klingon"}], ids=str
)
def test_of_a_live_index_its_state_is_named(tmp_path, description):
    with create_live(tmp_path / "live") as writer:
        writer.append_texts([Document("d1", "", "river bank")], LexicalSettings())
    write_description(tmp_path / "live", "live.json", description)
    with pytest.raises(ArtifactError) as raised:
        Retriever.open(tmp_path / "live").search("river")
    require_one_line(raised.value, tmp_path / "live/live.json")


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"vocab_fingerprint": 3},
        {"words": {"fold": 1}},
        {"words": ["fold_accents"]},
        {"expansion_length": "long"},
    ],
    ids=str,
)
def test_a_model_that_says_other_things_of_itself_is_one_line(tmp_path, facts):
    whole = {
        "backbone": "x", "mlm_head": "own", "head": "plain", "own_words": False, "n_terms": 2,
        "vocab_fingerprint": Vocabulary(["a", "b"]).fingerprint, "stemmer": "none", "stopwords": "none",
        "mean_words": 1.0,
    }  # fmt: skip
    with write_artifact(tmp_path / "model", Manifest("model", 2, {})) as draft:
        write_json(draft / "encoder.json", {**whole, **facts} if facts else {})
    with pytest.raises(ArtifactError) as raised:
        open_query_encoder(WORDS, Vocabulary(["a", "b"]), tmp_path)
    require_one_line(raised.value, tmp_path / "model/encoder.json")


def test_a_kind_that_nobody_knows_is_named_with_its_file(tmp_path):
    with pytest.raises(ArtifactError, match=r"of kind 'other' \(.*meta.json\), which this version"):
        open_query_encoder({"kind": "other"}, Vocabulary(["a"]), tmp_path)


def write_description(folder, file, description):
    content = json.loads((folder / file).read_text())
    content["query_encoder"] = description
    write_json(folder / file, content)
    fit_checksums(folder, file)


def require_one_line(error, file):
    assert str(file) in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 500 + len(str(file))
