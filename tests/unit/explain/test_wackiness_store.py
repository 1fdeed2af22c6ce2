"""Wackiness that somebody else made, with right checksums: one line that names the file."""

import json

import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import Vocabulary
from lexigraft.explain.wackiness import TermScores
from lexigraft.explain.wackiness_curve import CurveRuns
from lexigraft.explain.wackiness_store import FORMAT_VERSION, KIND, open_wackiness, write_wackiness
from tests.fuzz.crafting import fit_checksums


@pytest.fixture
def made(tmp_path):
    scores = TermScores(np.array([0.0, np.nan, 0.5], np.float32), np.array([3, 0, 1]), 0.25, 0)
    runs = CurveRuns(np.array([[0.5, 0.1], [np.nan, np.nan]]), np.array([0.3, np.nan]), np.array([0.6, np.nan]), 4)
    with write_artifact(tmp_path / "wackiness", Manifest(KIND, FORMAT_VERSION, {})) as draft:
        write_wackiness(draft, scores, runs, Vocabulary(["a", "b", "c"]), {"more": 1})
    return tmp_path / "wackiness"


def test_what_was_written_is_read(made, monkeypatch):
    monkeypatch.setenv("LEXIGRAFT_VALIDATE", "always")
    found = open_wackiness(made)
    assert found.terms.seen.tolist() == [0, 2] and found.runs.n_drawn == 4 and found.facts["more"] == 1


@pytest.mark.parametrize(
    ("name", "array", "says"),
    [
        ("scores", np.array([0, np.nan], np.float32), "has 2 numbers instead of 3"),
        ("scores", np.array([0, np.nan, 0.5]), "holds float64"),
        ("scores", np.array([0, 0, 0.5], np.float32), "has no score of a term"),
        ("scores", np.array([0, np.nan, 7], np.float32), "not finite and from 0 to 1"),
        ("scores", np.array([0, np.nan, np.inf], np.float32), "not finite and from 0 to 1"),
        ("counts", np.array([3, 0, -1]), "outside of 0"),
        ("counts", np.array([3, 0]), "has 2 numbers instead of 3"),
        ("curves", np.array([0.5, 0.1]), "of 1 dimensions"),
        ("curves", np.array([[0.5, -3.0], [0.5, 0.1]]), "not finite and from 0"),
        ("areas", np.array([0.3]), "has 1 draws instead of 2"),
        ("areas_whole", np.array([0.3, np.inf]), "not finite and from 0"),
    ],
)
def test_arrays_of_a_stranger(made, name, array, says):
    """Before, they were ranked and drawn as they came, or ended in IndexError."""
    np.save(made / f"{name}.npy", array)
    fit_checksums(made, f"{name}.npy")
    with pytest.raises(ArtifactError, match=says):
        open_wackiness(made)


@pytest.mark.parametrize(
    "change",
    [{"largest_term": 3}, {"largest_term": -2}, {"n_drawn": -1}, {"largest_mean": None}, {"vocab_fingerprint": "x"}],
)
def test_facts_of_a_stranger(made, change):
    facts = json.loads((made / "facts.json").read_text())
    (made / "facts.json").write_text(json.dumps({**facts, **change}))
    fit_checksums(made, "facts.json")
    with pytest.raises(ArtifactError, match=r"facts\.json"):
        open_wackiness(made)
