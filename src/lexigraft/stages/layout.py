"""Where a run keeps what: the only place that knows the names of the folders under RUN.

RUN/collection/                     what was read (for pydocs: the two views in BEIR layout)
RUN/model/{vocabulary,pretrained,finetuned}/    the run's own model; *-checkpoint/ while it trains, backbone/ if new
RUN/model/finetuned.inference/      what encodes by it without torch
RUN/model/{mlm,mlm-second}/         its backbone, trained as a masked language model on one corpus, then on a second
RUN/model/negatives/                what BM25 ranks high and is not relevant (finetune.negatives = bm25)
RUN/model/teacher/{negatives,model,scores,quality}/    a cross-encoder: what it learns from, itself, what it says
RUN/model/{tilde,expansions[-VIEW]}/    what expands documents, and what it adds to them; *-unfinished/ on the way
RUN/models/SYSTEM/                  the same of a system that [systems] names; of a dense one, its encoder/
RUN/VIEW/SYSTEM/vectors/            document vectors; those of a dense system are searched themselves
RUN/VIEW/SYSTEM/index[-dkN]/        their index, pruned to N terms a document (mS: to S of its mass)
RUN/VIEW/metadata/                  what filters read, of any system's documents; INDEX.metadata/ beside an index
RUN/VIEW/texts/                     what documents say, for any system's results; of the view that is searched
RUN/judged/SYSTEM/evaluation-qkN-dkM/    run.trec, per-query measures, the report row
RUN/judged/SYSTEM/validation-qkN-dkM[-OTHER]/    the same setting on queries that nothing is reported of, held out for
                                    the first model or for OTHER
RUN/judged/SYSTEM/choice/           the prunings within its cost that its operating point was chosen from; of a hybrid,
                                    its two systems, and how they are fused
RUN/report.json report.md report.png
RUN/run.json                        which views and systems the run has now, and where their models lie; what
                                    else lies there is of former calls
RUN/operating_points.json           the (qk, dk) that each system is searched with, and why
RUN/choices.json                    settings that the run chose itself (--minutes), and by what
RUN/judgements/                     what the user judged, and what that decides (user_judgements.py)
RUN/source.json                     of which collection the run is
RUN/settings.json timings.json
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import read_manifest
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import where_it_stands
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.core.settings import FORMER_NAME
from lexigraft.core.stored_record import record_of
from lexigraft.core.systems import HOMES, OWN_HOME, System
from lexigraft.core.systems_table import DENSE, HYBRID, is_system_name
from lexigraft.stages.user_judgements import decided_by_user

JUDGED, FULL = "judged", "full"
CONTINUE = "give the command that made the run again: it writes the file anew"
QUALITY = "quality.json"
BEFORE_RANKING = ("vocabulary", "backbone", "mlm", "pretrain")  # how the parts are called that models may share


class Contents(NamedTuple):
    """What a run has now; `models`: the folder of each system's model in the run, of those that have one; `bases`: that
    of the model whose vocabulary and pre-training it shares, of those that share another one's. `recommended`: the
    system that a search takes when nobody names one, where the run found out. `kinds`: of systems that search no terms,
    dense ones and hybrids, which they are."""

    views: list[str]
    systems: list[str]
    models: dict[str, str]
    bases: dict[str, str] = {}  # noqa: RUF012
    recommended: str = ""
    kinds: dict[str, str] = {}  # noqa: RUF012


def lies_at(path: Path) -> bool:
    """Whether anything is there, also a link that leads nowhere: then it is damaged, and not absent."""
    return os.path.lexists(path)


def _is_home(folder: str) -> bool:
    """Whether models of a run may lie there: its own folder, or one in the folder of those of its systems."""
    top, _, name = folder.partition("/")
    return folder in (OWN_HOME, "") or (top == HOMES and is_system_name(name))


def metadata_beside(index: Path) -> Path:
    """Where the metadata of an index in a folder of its own lie."""
    return index.with_name(f"{index.name}.metadata")


@dataclass(frozen=True)
class RunFolder:
    """`home` is the folder of the model that is meant: the run's own, or that of one of its systems."""

    root: Path
    home: str = OWN_HOME
    base: str = ""  # the folder of the model whose vocabulary and pre-training it shares, where it is another one

    def of(self, system: System) -> "RunFolder":
        """The same run, with the model of that system."""
        return replace(self, home=system.home, base=system.base) if system.learns else self

    @property
    def collection(self) -> Path:
        return self.root / "collection"

    @property
    def pairs(self) -> Path:
        """The collection of pairs that were made of the texts."""
        return self.root / "pairs"

    def model(self, part: str) -> Path:
        """A part of the model that is meant."""
        home = self.base if self.base and part.startswith(BEFORE_RANKING) else self.home
        return self.root / home / part

    def teacher(self, part: str) -> Path:
        return self.model("teacher") / part

    def teacher_quality(self) -> dict[str, dict[str, Any]]:
        """What the run's teacher is worth, as {"teacher": ...}; empty where it was not measured."""
        file = self.teacher("quality") / QUALITY
        return {"teacher": read_sealed(file)} if file.is_file() else {}

    @property
    def contents(self) -> Path:
        return self.root / "run.json"

    @property
    def origin(self) -> Path:
        return self.root / "source.json"

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def choices(self) -> Path:
        return self.root / "choices.json"

    @property
    def operating_points(self) -> Path:
        return self.root / "operating_points.json"

    @property
    def timings(self) -> Path:
        return self.root / "timings.json"

    def report(self, suffix: str) -> Path:
        return self.root / f"report.{suffix}"

    def vectors(self, view: str, system: str) -> Path:
        return self.root / view / system / "vectors"

    def index(self, view: str, system: str, keep: DocumentCut) -> Path:
        return self.root / view / system / (f"index-dk{keep}" if keep else "index")

    def metadata(self, view: str) -> Path:
        return self.root / view / "metadata"

    def texts(self, view: str) -> Path:
        return self.root / view / "texts"

    def evaluation(self, system: str, qk: QueryCut, dk: DocumentCut, view: str = JUDGED) -> Path:
        return self.root / view / system / f"evaluation-qk{qk}-dk{dk}"

    def validation(self, system: str, qk: QueryCut, dk: DocumentCut, queries_of: str = "") -> Path:
        """Where what a system is worth on validation queries lies; `queries_of`: on those of another system."""
        whose = f"-{queries_of}" if queries_of else ""
        return self.root / JUDGED / system / f"validation-qk{qk}-dk{dk}{whose}"

    def choice(self, system: str, asked: str = "") -> Path:
        """Where the prunings lie that a system's operating point was chosen from; `asked`: for another cost than the
        run's."""
        return self.root / JUDGED / system / (f"choice-{asked}" if asked else "choice")

    def own_files(self) -> tuple[Path, ...]:
        """The files that a run writes beside its artifacts."""
        own = (self.origin, self.contents, self.settings, self.choices, self.timings, self.operating_points)
        return (*own, *map(self.report, ("json", "md", "png")))

    def parts(self) -> tuple[Path, ...]:
        """The folders that a run keeps its artifacts in."""
        return tuple(self.root / name for name in ("collection", "pairs", OWN_HOME, HOMES, JUDGED, FULL))

    def homes(self) -> list[Path]:
        """The folders of all models there."""
        return [self.root / OWN_HOME, *sorted((self.root / HOMES).glob("*"))]

    def write_contents(self, views: Iterable[str], systems: Sequence[System], recommended: str = "") -> None:
        """Say what the run has now."""
        models = {system.name: system.home for system in systems if system.is_model}
        bases = {system.name: system.base for system in systems if system.is_model and system.base}
        names = [system.name for system in systems]
        kinds = {system.name: system.kind for system in systems if not system.is_sparse}
        said = Contents(list(views), names, models, bases, recommended, kinds)._asdict()
        write_sealed(self.contents, {name: value for name, value in said.items() if name != "kinds" or value})

    def read_contents(self) -> Contents:
        """What the run has now; nothing where it has not begun. Raises where there is no run, or where what says it was
        changed."""
        if not self.root.is_dir():
            remedy = f"make one with: lexigraft quickstart, or: lexigraft run --data DIR --out {self.root}"
            raise ArtifactError(f"there is no run at {self.root}; {remedy}")
        if not lies_at(self.contents):
            return Contents([], [], {})
        found = read_sealed(self.contents, CONTINUE)
        if "models" not in found:  # of runs that do not say it
            names = found.get("systems")
            found["models"] = {FORMER_NAME: OWN_HOME} if isinstance(names, list) and FORMER_NAME in names else {}
        return self._sensible(record_of(self.contents, Contents, found, remedy=CONTINUE))

    def _sensible(self, contents: Contents) -> Contents:
        """The contents where names and folders are such as a run has: a path elsewhere would be followed."""
        unknown = [view for view in contents.views if view not in (JUDGED, FULL)]
        unknown += [kind for kind in contents.kinds.values() if kind not in (DENSE, HYBRID)]
        unknown += sorted({*contents.models, *contents.bases, *contents.kinds} - {*contents.systems})
        unknown += [name for name in contents.systems if not is_system_name(name)]
        unknown += [home for home in (*contents.models.values(), *contents.bases.values()) if not _is_home(home)]
        if contents.recommended and contents.recommended not in contents.systems:
            unknown.append(contents.recommended)
        if unknown:
            raise ArtifactError(f"{self.contents} names {unknown[0]!r}, which this run cannot have; {CONTINUE}")
        return contents

    def of_name(self, system: str) -> "RunFolder":
        """The same run, with the model of the system of that name."""
        contents = self.read_contents()
        return replace(self, home=contents.models.get(system, OWN_HOME), base=contents.bases.get(system, ""))

    def searchable_index(self, system: str | None) -> Path:
        """The whole index that a person searches: that of the first view."""
        view, name = self.searchable(system)
        return self.index(view, self.require_terms(name), 0)

    def require_terms(self, system: str) -> str:
        """The name, which must be that of a system whose index is one of terms, and not of a dense one or a hybrid."""
        contents = self.read_contents()
        if kind := contents.kinds.get(system):
            others = ", ".join(name for name in contents.systems if name not in contents.kinds)
            raise ArtifactError(
                f"{system} of {self.root} is a {kind} system, which has no index of terms; name one that has: {others}"
            )
        return system

    def searchable(self, system: str | None) -> tuple[str, str]:
        """(view, system) that a person searches. None: the one that the user's judgements decided for, or the run
        recommends; without one its own model, or the only other one, if it is ready, else the run's first system that
        is. Of several models that [systems] names, one must be named."""
        ready, contents = self.ready(), self.read_contents()
        if system is not None and system not in ready:
            raise ArtifactError(f"the run at {self.root} has no system {system!r}; present: {', '.join(ready)}")
        if system is None:
            for taken in (decided_by_user(self.root), contents.recommended):
                if taken in ready:
                    return ready[taken], taken
        models = [name for name in ready if name in contents.models]
        models = [name for name in models if contents.models[name] == OWN_HOME] or models
        if system is None and len(models) > 1:
            raise ArtifactError(
                f"the run at {self.root} has several models, and none is named; name a system: {', '.join(ready)}"
            )
        chosen = system or (models[0] if models else next(iter(ready)))
        return ready[chosen], chosen

    def ready(self) -> dict[str, str]:
        """The view that is searched, by the name of each system that has its index; raises where none has."""
        contents = self.read_contents()
        ready = {
            name: view
            for name in contents.systems
            for view in contents.views[:1]
            if self._is_ready(contents, view, name)
        }
        if not ready:
            raise ArtifactError(self._why_nothing_is_ready())
        return ready

    def _is_ready(self, contents: Contents, view: str, name: str) -> bool:
        """Whether what is searched of a system is there. Its manifest is not asked: of an artifact that is damaged, who
        opens it says so, where leaving it out would let another system answer without a word."""
        kind = contents.kinds.get(name)
        if kind == DENSE:
            searched = self.vectors(view, name)
        elif kind == HYBRID:
            searched = self.choice(name)  # which is made when its parts are there
        else:
            searched = self.index(view, name, 0)
        return lies_at(where_it_stands(searched))  # a writer may have moved it aside for a moment

    def _why_nothing_is_ready(self) -> str:
        """Why nothing of it can be searched: often because it is no run at all."""
        if not self.root.exists():
            return f"there is no run at {self.root}; make one with: lexigraft run --data DIR --out {self.root}"
        manifest = read_manifest(self.root)
        if manifest is not None:
            kind = {"index": "an index", "vectors": "vectors"}.get(manifest.kind, f"a {manifest.kind}")
            hint = f"use --index {self.root}" if manifest.kind == "index" else "give the folder of a run"
            return f"{self.root} holds {kind}, which is no run; {hint}"
        return f"the run at {self.root} has no index yet; continue it with the command that began it"
