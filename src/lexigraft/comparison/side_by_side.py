"""Systems side by side (E1): of one run, of several, and TREC run files; each against a baseline, query by query."""

import filecmp
import math
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexigraft.comparison import measured_systems
from lexigraft.comparison.measured_indexes import judged_queries, system_of_index
from lexigraft.comparison.measured_systems import Judged, MeasuredSystem
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.folders import make_folders
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.data.reading import Reading
from lexigraft.engines.address import parse_address
from lexigraft.measure.compare import Changes, Comparison, changed_most, compare, pairs_to_compare, same_queries
from lexigraft.measure.measures import check_measures
from lexigraft.stages.finished_run import FinishedRun, open_run
from lexigraft.stages.vocabularies import short_names

DEFAULT_MEASURES = ("MRR@10", "R@10", "R@100", "R@1000", "nDCG@10")
USUAL_BASELINE = "bm25"
CHANGES_KEPT = 10


@dataclass(frozen=True)
class Asked:
    """What to put side by side. Judgements are those of `qrels`, or of the collection `data`, or of the runs."""

    runs: Sequence[Path] = ()
    files: Sequence[Path] = ()
    systems: Sequence[str] = ()  # of the runs; empty: all
    qrels: Path | None = None
    data: str | None = None
    split: str = "auto"
    measures: Sequence[str] = DEFAULT_MEASURES
    baseline: str | None = None
    all_pairs: bool = False
    common: bool = False
    indexes: Sequence[Path] = ()  # searched now, with the texts of the judged queries
    queries: Path | None = None  # those texts, where `data` does not give them
    engines: Sequence[str] = ()  # addresses; searched now, too
    on_duplicate: str | None = None  # what happens where `qrels` or `data` say something twice; None: as everywhere

    @property
    def searched(self) -> Sequence[Path | str]:
        """What is searched now."""
        return *self.indexes, *self.engines


@dataclass(frozen=True)
class SideBySide:
    """All of the same queries; `changes` by measure and pair (system, baseline)."""

    judged_by: str
    queries: int
    measures: Sequence[str]
    systems: Sequence[MeasuredSystem]
    baseline: str
    comparisons: Sequence[Comparison]
    changes: Mapping[tuple[str, str, str], Changes]


def side_by_side(asked: Asked, workspace: Path | None = None, progress: Progress = SILENT) -> SideBySide:
    """Measure and compare all that was asked for. The rankings of indexes are written into `workspace`, an empty folder
    that is needed only for those."""
    if not asked.runs and not asked.files and not asked.searched:
        raise SettingError("nothing to evaluate: give TREC run files, --run RUN, --index INDEX or --engine ADDRESS")
    if asked.queries is not None and not asked.searched:
        raise SettingError("--queries are what an --index is searched with; give one")
    if asked.searched and asked.queries is None and asked.data is None:
        what = "index" if asked.indexes else "engine"
        raise SettingError(f"an --{what} is searched with queries: give --queries FILE and --qrels FILE, or --data DIR")
    if asked.qrels is not None and asked.data is not None:
        raise SettingError("give the judgements as either --qrels FILE or --data DIR, not both")
    if asked.on_duplicate is not None and asked.qrels is None and asked.data is None:
        raise SettingError(
            "--on-duplicate says how --qrels or --data is read; a run's own judgements are read as it was"
        )
    if (asked.files or asked.searched) and not asked.runs and asked.qrels is None and asked.data is None:
        raise SettingError(
            "TREC run files and indexes need judgements: give --qrels FILE, --data DIR, or a --run of the collection"
        )
    if asked.systems and not asked.runs:
        raise SettingError("--system chooses among the systems of a --run; give one")
    asked = replace(asked, measures=tuple(dict.fromkeys(asked.measures)))
    check_measures(asked.measures)
    runs = [open_run(path) for path in asked.runs]
    judged_by, judged = _judgements(asked, runs)
    names = short_names([str(path) for path in asked.runs])
    prefixes = [f"{name}/" for name in names] if len(runs) > 1 else [""] * len(runs)
    given = judged if asked.qrels is not None or asked.data is not None else None
    systems = [
        system
        for run, prefix in zip(runs, prefixes, strict=True)
        for system in measured_systems.systems_of_run(run, asked.measures, asked.systems, prefix, given, asked.common)
    ]
    systems += [
        measured_systems.system_of_file(path, judged, asked.measures, ranked_only=asked.common) for path in asked.files
    ]
    if asked.searched and workspace is not None:
        texts = judged_queries(judged, asked.queries, asked.data, _reading(asked))
        named = zip(asked.searched, _names_of_searched(asked), strict=True)
        systems += [
            system_of_index(path, name, texts, judged, asked.measures, workspace, progress, bool(asked.engines))
            for path, name in named
        ]
    return compared(systems, judged_by, asked.measures, asked.baseline, asked.all_pairs, asked.common)


def _names_of_searched(asked: Asked) -> list[str]:
    """Indexes by their folders, as short as may be; engines by their addresses, without secrets."""
    return [*short_names([str(path) for path in asked.indexes]), *(str(parse_address(text)) for text in asked.engines)]


def _reading(asked: Asked) -> Reading:
    checked = DataSettings(on_duplicate=asked.on_duplicate or DataSettings.on_duplicate)
    return Reading(checked.on_duplicate)


def _judgements(asked: Asked, runs: Sequence[FinishedRun]) -> tuple[str, Judged]:
    """In words, and by query and document."""
    reading = _reading(asked)
    if asked.qrels is not None:
        judged_by, judged = str(asked.qrels), measured_systems.judged_by_file(asked.qrels, reading)
    elif asked.data is not None:
        split, judged = measured_systems.judged_by_collection(asked.data, asked.split, reading)
        judged_by = f"{split} of {asked.data}"
    else:
        if asked.split != "auto":
            raise SettingError("--split chooses among the judgements of --data; a run has one that it measures")
        _require_same_judgements(runs)
        on = runs[0].reported_on()
        judged_by = f"{on.split} of {on.collection.name}"
        judged = measured_systems.judged_by_run(runs[0])
    if not judged:
        raise InputError("the judgements hold no relevant document")
    return judged_by, judged


def _require_same_judgements(runs: Sequence[FinishedRun]) -> None:
    first = measured_systems.judgements_of_evaluations(runs[0])
    for run in runs[1:]:
        other = measured_systems.judgements_of_evaluations(run)
        if other != first:
            raise InputError(
                f"{runs[0].folder.root} and {run.folder.root} were measured against different judgements ({first[0]} "
                f"of {runs[0].reported_on().collection.name}, {other[0]} of {run.reported_on().collection.name}); give "
                "those that both are to be measured against: --qrels FILE or --data DIR"
            )


def compared(
    systems: Sequence[MeasuredSystem],
    judged_by: str,
    measures: Sequence[str],
    baseline: str | None = None,
    all_pairs: bool = False,
    common: bool = False,
) -> SideBySide:
    """Systems with their comparisons. The baseline is the one that is named, else the first BM25, else the first."""
    systems = _named_apart(systems)
    names = [system.name for system in systems]
    chosen = baseline or next((name for name in names if name.split("/")[-1] == USUAL_BASELINE), names[0])
    pairs = pairs_to_compare(names, chosen, all_pairs)
    per_measure = {
        name: same_queries({system.name: system.per_query[name] for system in systems}, common) for name in measures
    }
    kept = [
        MeasuredSystem(
            system.name, {name: per_measure[name][system.name] for name in measures}, system.run_file, system.costs
        )
        for system in systems
    ]
    return SideBySide(
        judged_by,
        len(next(iter(per_measure[measures[0]].values()))),
        measures,
        kept,
        chosen,
        [found for name in measures for found in compare(name, per_measure[name], chosen, all_pairs)],
        {
            (name, ours, theirs): changed_most(per_measure[name][ours], per_measure[name][theirs], CHANGES_KEPT)
            for name in measures
            for ours, theirs in pairs
        },
    )


def _named_apart(systems: Sequence[MeasuredSystem]) -> list[MeasuredSystem]:
    seen: set[str] = set()
    for system in systems:
        if system.name in seen:
            raise SettingError(f"{system.name} is given twice; give each run and file once")
        seen.add(system.name)
    return list(systems)


def comparison_facts(found: Comparison) -> dict[str, Any]:
    """A comparison as one flat record; a t without bounds, of differences that are all the same, has no number."""
    facts = found._asdict()
    test = facts.pop("test")
    facts |= {name: value if value is None or math.isfinite(value) else None for name, value in test._asdict().items()}
    return facts


def facts(found: SideBySide) -> dict[str, Any]:
    """All of it for JSON but the values of single queries."""
    return {
        "judged_by": found.judged_by,
        "queries": found.queries,
        "systems": {system.name: {**system.means, **system.costs} for system in found.systems},
        "baseline": found.baseline,
        "comparisons": [comparison_facts(comparison) for comparison in found.comparisons],
        "changes": [
            {
                "measure": measure,
                "system": system,
                "baseline": baseline,
                "gained": [change._asdict() for change in changes.gained],
                "lost": [change._asdict() for change in changes.lost],
            }
            for (measure, system, baseline), changes in found.changes.items()
        ],
    }


def write_runs(systems: Sequence[MeasuredSystem], folder: Path) -> list[Path]:
    """Copies of the systems' TREC runs in one folder, named by system. Another file in the place of one is an error,
    and then nothing is written."""
    targets = [folder / (re.sub(r"[^\w.-]+", "_", system.name).strip("_.") + ".trec") for system in systems]
    for system, target in zip(systems, targets, strict=True):
        if targets.count(target) > 1:
            raise InputError(f"two systems would be written to {target}; choose among them with --system")
        if target.exists() and not (target.is_file() and filecmp.cmp(system.run_file, target, shallow=False)):
            raise ArtifactError(
                f"{target} is there already and is another run; give another folder, or remove it first"
            )
    make_folders(folder)
    for system, target in zip(systems, targets, strict=True):
        if not target.exists():
            shutil.copyfile(system.run_file, target)
    return targets
