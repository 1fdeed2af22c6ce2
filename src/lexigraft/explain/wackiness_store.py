"""Wackiness on disk: the files of a `wackiness` artifact.

scores.npy      float32 [terms]         NaN for a term that was never an expansion
counts.npy      int64 [terms]           how many inputs it expanded
curves.npy      float64 [runs, bins]    the curve of each draw of inputs
areas.npy       float64 [runs]          W-AUC of each; areas_whole.npy over the whole vocabulary
terms.*                                 the vocabulary
facts.json                              its fingerprint, and what was counted on the way
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.pinned import of_one_version
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import require_value
from lexigraft.core.types import Vocabulary, require_same_vocabulary
from lexigraft.explain.wackiness import TermScores
from lexigraft.explain.wackiness_curve import CurveRuns

KIND, FORMAT_VERSION = "wackiness", 1


@dataclass(frozen=True)
class Wackiness:
    """What is known of one expander's terms on one side; `facts` has what else was counted."""

    terms: TermScores
    runs: CurveRuns
    vocabulary: Vocabulary
    vocab_fingerprint: str
    facts: Mapping[str, Any]
    fingerprint: str  # of the artifact

    def require_vocabulary(self, name: str, fingerprint: str) -> None:
        """Raise unless what is called `name` has the vocabulary that was scored."""
        require_same_vocabulary("the wackiness scores", self.vocab_fingerprint, name, fingerprint)


def write_wackiness(
    folder: Path, terms: TermScores, runs: CurveRuns, vocabulary: Vocabulary, facts: Mapping[str, Any]
) -> None:
    """Write the files into `folder`."""
    np.save(folder / "scores.npy", terms.scores)
    np.save(folder / "counts.npy", terms.counts)
    np.save(folder / "curves.npy", runs.curves)
    np.save(folder / "areas.npy", runs.areas)
    np.save(folder / "areas_whole.npy", runs.areas_whole)
    write_strings(folder, "terms", vocabulary.terms)
    stored = {
        "vocab_fingerprint": vocabulary.fingerprint,
        "largest_mean": terms.largest_mean,
        "largest_term": terms.largest_term,
        "n_drawn": runs.n_drawn,
        **facts,
    }
    write_json(folder / "facts.json", stored)


@of_one_version
def open_wackiness(folder: Path) -> Wackiness:
    """The wackiness at `folder`, such as OUT/NAME/queries of `lexigraft wackiness`."""
    manifest = open_artifact(folder, KIND, FORMAT_VERSION)
    facts = read_sealed(folder / "facts.json")
    for name, kind in {"vocab_fingerprint": str, "largest_mean": float, "largest_term": int, "n_drawn": int}.items():
        require_value(folder / "facts.json", name, facts.get(name), kind)
    scores, counts = open_array(folder / "scores.npy"), open_array(folder / "counts.npy")
    curves, areas, whole = (open_array(folder / f"{name}.npy") for name in ("curves", "areas", "areas_whole"))
    return Wackiness(
        TermScores(scores, counts, facts["largest_mean"], facts["largest_term"]),
        CurveRuns(curves, areas, whole, facts["n_drawn"]),
        Vocabulary(StringTable(folder, "terms")),
        facts["vocab_fingerprint"],
        facts,
        manifest.fingerprint,
    )
