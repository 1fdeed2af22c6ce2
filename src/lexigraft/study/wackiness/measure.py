"""The wackiness of systems side by side: scores, curves, removal and pruning, each an artifact that is kept.

OUT/NAME/document-terms/      the terms of the documents, counted
OUT/NAME/{queries,documents}/ scores and curves by one side's inputs
OUT/NAME/removal/             effectiveness without the wackiest terms; removal-COLLECTION/ elsewhere
OUT/NAME/pruning/             what pruning by wackiness costs and leaves; pruned/ has the indexes
OUT/NAME/other-COLLECTION/    vectors and index of another collection
OUT/NAME/{vectors,index}/     of a system that was given without a run (`wackiness_given`)
OUT/result.json, tables.md, *.csv, *.png, *.svg
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.open_systems import open_systems
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.explain.wackiness_curve import significance_letters
from lexigraft.explain.wackiness_store import Wackiness
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.study.wackiness.given import GivenSystems, Opened, open_given
from lexigraft.study.wackiness.place import Workplace
from lexigraft.study.wackiness.report import write_report
from lexigraft.study.wackiness.settings import WackinessSettings
from lexigraft.study.wackiness.system import SystemStudy


def measure_wackiness(
    runs: Sequence[Path],
    out: Path,
    settings: WackinessSettings | None = None,
    systems: Sequence[str] = (),
    data: str | None = None,
    others: Sequence[str] = (),
    progress: Progress = SILENT,
    given: GivenSystems | None = None,
) -> dict[str, Any]:
    """Measure a system of each of `runs` into `out`, doing only what is not done yet, and return the result as JSON.

    `systems`: one for all runs or one for each; their learned models where none. `data`: where their collection lies,
    if it has moved. `others`: further collections, which the same models encode, to measure removal out of domain.
    `given`: systems without a run, measured after those of runs on the collection at `data`.
    """
    settings, given = settings or WackinessSettings(), given or GivenSystems()
    if not runs and not given.paths:
        raise SettingError(
            "nothing to measure was given; give a run: --run RUN, or --data COLLECTION with --model, --index, "
            "--generated or --generated-documents"
        )
    if systems and not runs:
        raise SettingError("--system names a system of a run; give --run RUN, or leave it out")
    given.require_usable(data, settings)
    of_runs = open_systems(runs, systems, data) if runs else []
    opened = [Opened(system, {"run": str(run)}) for system, run in zip(of_runs, runs, strict=True)]
    if (out / "result.json").exists() and not (out / ".lock").exists():
        raise SettingError(f"--out {out} has a result.json that is not of this command; give another folder")

    def place_of(name: str, seed: int = 0) -> Workplace:
        return Workplace(name, out / name, Ensurer(RunFolder(out), None), seed, progress)

    with ExitStack() as open_files:
        open_files.enter_context(writer_lock(out))
        if given.paths and data is not None:
            collection = open_files.enter_context(judged_collection(data, DataSettings(), progress))
            opened += open_given(given, collection, out, [one.name for one in of_runs], place_of)
        found = [SystemStudy(one, place_of(one.name, settings.seed), settings).everything(others) for one, _ in opened]
        result = {
            "settings": asdict(settings),
            "systems": [
                {"name": one.name, **given_as, "system": one.system, "collection": one.collection.name}
                for one, given_as in opened
            ],
            "sides": {side: _side_result(found, side) for side in settings.sides},
            "removal": [entry for one in found for entry in one["removal"]],
            "pruning": [entry for one in found for entry in one["pruning"]],
        }
        write_json(out / "result.json", result)
        write_report(result, out)
    return result


def _side_result(found: Sequence[dict[str, Any]], side: str) -> list[dict[str, Any]]:
    """One entry a system, in the order given; letters compare them all."""
    letters = significance_letters([one["sides"][side].runs.areas for one in found])
    return [_entry(one["name"], one["sides"][side], letter) for one, letter in zip(found, letters, strict=True)]


def _entry(name: str, found: Wackiness, letters: str) -> dict[str, Any]:
    runs, terms = found.runs, found.terms
    largest = found.vocabulary.terms[terms.largest_term] if terms.largest_term >= 0 else None
    facts = {key: value for key, value in found.facts.items() if key not in ("largest_term", "vocab_fingerprint")}
    return {
        "name": name,
        "W-AUC": float(np.nanmean(runs.areas)),
        "two_sigma": float(_two_sigma(runs.areas)),
        "letters": letters,
        "W-AUC_whole_vocabulary": float(np.nanmean(runs.areas_whole)),
        "coverage": terms.coverage,
        "term_of_the_largest_mean": largest,
        **facts,
        "areas": [None if np.isnan(value) else value for value in runs.areas.tolist()],
        "curve": np.nanmean(runs.curves, axis=0).tolist(),
        "curve_two_sigma": _two_sigma(runs.curves).tolist(),
    }


def _two_sigma(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two standard deviations over the draws that have values; 0 where there is one."""
    drawn = drawn[~np.isnan(drawn.reshape(len(drawn), -1)).any(axis=1)]
    spread: NDArray[np.float64] = 2 * drawn.std(axis=0, ddof=min(1, len(drawn) - 1))
    return spread
