"""A study from its arms to its verdicts: what is asked for is trained, what was trained before is kept, and tables,
curves and verdicts are written anew."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.config import load_settings
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.data.sources import open_source
from lexigraft.study.design import Arm, Study
from lexigraft.study.evidence import Evidence, evidence_of
from lexigraft.study.missing import Missing, missing, seconds_of
from lexigraft.study.outputs import decisions_of, write_outputs
from lexigraft.study.papers import STUDIES
from lexigraft.study.perform import Ended, perform_all
from lexigraft.study.regime import Scale, scale_of
from lexigraft.study.work import Work

USUAL_SEEDS = (0, 1, 2)
ALL = "all"
USUAL_GIB = {"tiny": 0.8, "cpu": 2.0, "gpu": 3.0}


@dataclass(frozen=True)
class Asked:
    """What is asked of a study. `arms`: some of them (empty: those that claims wait for; "all")."""

    study: Study
    scale: Scale
    out: Path
    data: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    seeds: tuple[int, ...] = USUAL_SEEDS
    backbone: str = ""
    general: str = ""
    tokenizer: str = ""
    others: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    def evidence(self) -> Evidence:
        return evidence_of(self.out, self.study, self.scale.name)

    def valued_works(self) -> list[tuple[float, Work]]:
        """The processes that still have something to do, and the share of a claim that a minute of each decides."""
        chosen = [
            Work(
                self.study, self.scale, data, arm, seed, self.out, self.backbone, self.general, self.tokenizer,
                self.others, self.given,
            )
            for seed in self.seeds
            for data in self.data
            for arm in self._arms()
        ]  # fmt: skip
        worth = {one.training: one.worth for one in self.missing()}
        left = [(work, work.unfinished()) for work in chosen]
        return [(max(worth.get(one, 0.0) for one in undone), work) for work, undone in left if undone]

    def missing(self) -> list[Missing]:
        """What undecided claims still wait for, on the collections given and those that are known."""
        evidence = self.evidence()
        names = list(dict.fromkeys([*(Path(data).name for data in self.data), *evidence.collections]))
        decisions = decisions_of(self.study, evidence, self.scale)
        return missing(self.study, evidence, decisions, names, self.scale.name)

    def minutes(self, works: Sequence[Work]) -> list[float]:
        """About how long each process will take."""
        finished = self.evidence().finished
        return [sum(seconds_of(one, finished, self.scale.name) for one in work.unfinished()) / 60 for work in works]

    def memory_gib(self) -> float:
        """The most that a process of this scale took, or about what it will take where none has run."""
        measured = [float(one.made_by.get("memory_mib", 0)) for one in self.evidence().finished]
        return max(measured, default=1024 * USUAL_GIB[self.scale.name]) / 1024

    def _arms(self) -> list[Arm]:
        known = {arm.name: arm for arm in self.study.arms}
        named = tuple(known) if self.arms == (ALL,) else self.arms or self.study.deciding
        if unknown := [name for name in named if name not in known]:
            raise SettingError(
                f"--arms: the study {self.study.name} has no {', '.join(unknown)}; it has {', '.join(known)}"
            )
        chosen = [known[name] for name in named]
        lacking = [arm.name for arm in chosen if arm.needs_general]
        if lacking and not self.general:
            raise SettingError(
                f"the arms {', '.join(lacking)} read general texts: give some (--general FILE), or name other arms "
                "(--arms)"
            )
        return chosen


def ask(name: str, scale: str, out: Path, **options: Any) -> Asked:
    """What is asked for, checked before anything is trained."""
    if name not in STUDIES:
        raise SettingError(f"there is no study {name!r}; one of {', '.join(STUDIES)}")
    asked = Asked(STUDIES[name], scale_of(scale), out, **options)
    names = [Path(data).name for data in asked.data]
    if duplicated := sorted({name for name in names if names.count(name) > 1}):
        raise SettingError(f"--data: several collections are called {', '.join(duplicated)}; rename one")
    for data in asked.data:
        if "train" not in open_source(data).splits:
            raise InputError(f"{data} has no training judgements (qrels/train.tsv), and a study trains; give another")
    return asked


def ask_all(scale: str, out: Path, data: tuple[str, ...], **options: Any) -> list[Asked]:
    """All studies, each in a folder of its own under `out`, and on those collections that suit it."""
    sizes = {of: sum(1 for _ in open_source(of).documents()) for of in data}
    return [
        ask(name, scale, out / name, data=tuple(of for of in data if study.suits(sizes[of])), **options)
        for name, study in STUDIES.items()
    ]


def conduct(
    all_asked: Sequence[Asked], jobs: int = 1, seconds: float | None = None,
    report: Callable[[Ended], None] = lambda ended: None,
) -> tuple[list[dict[str, Any]], Sequence[Ended]]:  # fmt: skip
    """Train what is asked for of some studies and not done, and write what each shows; (the results of each, how the
    processes ended)."""
    works = works_of(all_asked)
    for work in works:  # what is not allowed is said now, and not by a process that has just begun
        load_settings(None, work.settings(work.unfinished()[0]))
    with ExitStack() as locks:
        for asked in all_asked:
            locks.enter_context(writer_lock(asked.out))
        ended = perform_all(works, jobs, seconds, report)
        return [write_outputs(one.out, one.study, one.evidence(), one.scale) for one in all_asked], ended


def works_of(all_asked: Sequence[Asked]) -> list[Work]:
    """The processes that still have something to do, those first that decide most for their time."""
    valued = [one for asked in all_asked for one in asked.valued_works()]
    return [work for _, work in sorted(valued, key=lambda one: -one[0])]
