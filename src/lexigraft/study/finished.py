"""What a training of a study leaves: one small JSON file that travels between machines.

OUT/arms/COLLECTION--ARM--WEIGHT--sSEED.json

Ranks are kept query by query, a letter each: `0` where no relevant document is among the first ten, else its rank,
`A` for ten. That is all that paired tests of MRR@10 need. In the file they are compressed (zlib, base64).
"""

import base64
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.affordable import reciprocal
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.folders import make_folders
from lexigraft.core.plain_files import read_plain_file

FORMAT = 1
LETTERS = "0123456789A"


class Training(NamedTuple):
    """One training of a study; `weight` is that of the regulariser (None: as the arm's settings say)."""

    collection: str
    arm: str
    weight: float | None
    seed: int

    @property
    def name(self) -> str:
        weight = "as-set" if self.weight is None else f"w{self.weight:g}"
        return f"{self.collection}--{self.arm}--{weight}--s{self.seed}"


class Point(NamedTuple):
    """What a trained model is worth at a point: on the measured queries, and MRR@10 on those it was chosen by."""

    qk: float
    dk: int
    flops: float
    terms_q: float
    terms_d: float
    held_out: float
    ranks: str

    @property
    def reciprocal_ranks(self) -> NDArray[np.float64]:
        return reciprocal(read_ranks(self.ranks))

    @property
    def mrr(self) -> float:
        return float(self.reciprocal_ranks.mean()) if self.ranks else 0.0


class Finished(NamedTuple):
    """`queries` is a hash of the measured queries, in the order of the ranks; `collapsed` is the message of a training
    that ended without a model, which is a result, too; `looks` are further measurements by name."""

    study: str
    scale: str
    training: Training
    queries: str
    bm25: Point
    points: dict[str, Point]
    looks: dict[str, Any]
    collapsed: str
    made_by: dict[str, Any]  # settings, command, commit, device, versions, seconds

    @property
    def seconds(self) -> float:
        return float(self.made_by.get("seconds", 0.0))


def write_ranks(ranks: Sequence[int] | NDArray[np.int64]) -> str:
    return "".join(LETTERS[rank] for rank in ranks)


def read_ranks(letters: str) -> NDArray[np.int64]:
    return np.array([LETTERS.index(letter) for letter in letters], np.int64)


def file_of(out: Path, training: Training) -> Path:
    return out / "arms" / f"{training.name}.json"


def write_finished(out: Path, finished: Finished) -> None:
    """Keep it, whole or not at all."""
    path = file_of(out, finished.training)
    make_folders(path.parent)
    points = {name: _packed(point) for name, point in finished.points.items()}
    plain = finished._asdict() | {
        "training": finished.training._asdict(), "bm25": _packed(finished.bm25), "points": points,
    }  # fmt: skip
    write_json(path, {"format": FORMAT, **plain})


def read_finished(path: Path) -> Finished:
    """Raises where the file is not of a study, or of another version."""
    try:
        found = json.loads(read_plain_file(path))
        if found.pop("format") != FORMAT:
            raise ArtifactError(f"{path} is of another version of Lexigraft; remove it, and its arm is trained again")
        return Finished(**found | {
            "training": Training(**found["training"]), "bm25": _unpacked(found["bm25"]),
            "points": {name: _unpacked(point) for name, point in found["points"].items()},
        })  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise ArtifactError(f"{path} is not what a training of a study leaves; remove it") from error


def _packed(point: Point) -> dict[str, Any]:
    packed = base64.b64encode(zlib.compress(point.ranks.encode("ascii"), 9)).decode("ascii")
    return {**point._asdict(), "ranks": packed}


def _unpacked(found: dict[str, Any]) -> Point:
    return Point(**found | {"ranks": zlib.decompress(base64.b64decode(found["ranks"])).decode("ascii")})


def read_all(out: Path, study: str, scale: str) -> list[Finished]:
    """Every finished training of a study at a scale; those of another study or scale are refused."""
    found = [read_finished(path) for path in sorted((out / "arms").glob("*.json"))]
    for one in found:
        if (one.study, one.scale) != (study, scale):
            raise ArtifactError(
                f"{file_of(out, one.training)} is of the study {one.study} at scale {one.scale}; give each study and "
                "scale a folder of its own (--out)"
            )
    return found
