"""The corpus vocabulary study: its plans name only what there is, and what it counts and tests is right."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from bench import steps, training_study
from bench.corpus_tables import PAIRS, gather, told_apart
from bench.piece_postings import is_punctuation, measure

PLANS = Path(__file__).parents[3] / "bench" / "plans"
GIVEN = {name: name for name in ("out", "data", "bert", "minilm", "second")}


def plan(name: str) -> dict:
    return tomllib.loads((PLANS / name).read_text(encoding="utf-8"))


def arms_of(name: str) -> set[str]:
    values = dict.fromkeys(("data", "backbones", "work", "seed", "steps", "batch", "rate", "flops"), "1")
    runs = training_study.planned(plan(name), values)
    assert not [text for run in runs for text in run.settings if "{" in text]
    return {run.name for run in runs}


def test_every_training_of_the_plan_is_an_arm_that_there_is():
    known = {name: arms_of(name) for name in ("corpus_vocabulary.toml", "corpus_vocabulary_additions.toml")}
    trained = set()
    for step in steps.planned(plan("corpus_vocabulary_steps.toml"), GIVEN):
        if named := re.search(r"training_study bench/plans/(\S+) .* --only (\S+)", step.command):
            assert named[2] in known[named[1]], step.name
            trained.add(named[2])
    assert trained == set.union(*known.values())
    assert {name for pair in PAIRS for name in pair} <= {name.split("/")[1] for name in trained}


def test_models_are_told_apart_by_query_and_bm25_is_one_of_them(tmp_path):
    def leave(arm: str, system: str, values: list[float]) -> None:
        folder = tmp_path / "runs" / "some" / arm / "judged" / system / "evaluation-qk0-dk0"
        folder.mkdir(parents=True)
        measured = {"MRR@10": {f"q{at}": value for at, value in enumerate(values)}}
        (folder / "per_query.json").write_text(json.dumps(measured))

    leave("unicoil-large", "esplade", [1.0, 0.5, 1.0, 0.25])
    leave("bm25", "bm25", [0.5, 0.5, 0.5, 0.25])
    found = told_apart(tmp_path, "some", ("unicoil-large", "bm25"))
    assert found["difference"] == pytest.approx(0.25)
    assert found["p"] == pytest.approx(
        0.18169, abs=1e-5
    )  # t = .25 / (.288675 / 2) = 1.7320508 with 3 degrees of freedom
    assert told_apart(tmp_path, "some", ("unicoil-30k", "bm25")) is None


def test_what_is_not_there_yet_is_left_out(tmp_path):
    assert gather(tmp_path) == {
        "encoders": {}, "runs": {}, "teachers": {}, "pairs": {}, "statistics": {}, "settings": [],
    }  # fmt: skip


def test_postings_of_pieces_by_hand():
    pieces = {"[UNK]": 0, "a": 1, "b": 2, "c": 3, ",": 4, "##,": 5}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    documents = ["a , a b", "b , c", "c"]  # cut at 3: a and the comma; b, the comma and c; c
    found = measure(tokenizer, documents, ["a , ,", "c b"], 3)
    assert found["pieces_of_a_document"] == pytest.approx(8 / 3)
    assert found["of_which_punctuation"] == pytest.approx(2 / 3)
    assert found["documents_cut"] == pytest.approx(1 / 3)
    assert found["postings"] == pytest.approx(((1 + 2) + (2 + 1)) / 2)
    assert found["postings_without_punctuation"] == pytest.approx((1 + 3) / 2)
    assert found["queries_with_punctuation"] == 0.5


@pytest.mark.parametrize(("piece", "is_one"), [(",", True), ("##-", True), ("##s", False), ("3", False), ("日", False)])
def test_punctuation_has_no_letter_and_no_digit(piece, is_one):
    assert is_punctuation(piece) is is_one
