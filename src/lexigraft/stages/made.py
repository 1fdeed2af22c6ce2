"""The stage that makes pairs of the texts, and the views of a run that has some: the made collection is the judged one,
and the user's own is what is searched."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest
from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Qrel
from lexigraft.data.collection import CORPUS, QUERIES, Collection, open_collection
from lexigraft.made_pairs.making import MANY_GIVEN, TRAIN, PairMaker, given_pairs
from lexigraft.made_pairs.told import in_words, read_counts
from lexigraft.stages.cells import MeasuredOn
from lexigraft.stages.collect import PYDOCS, collected
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.few_steps import with_few_steps
from lexigraft.stages.layout import FULL, JUDGED, RunFolder

KIND, FORMAT_VERSION = "made-pairs", 2
MADE = "made"  # what a report calls the queries

log = logging.getLogger(__name__)


def require_no_pairs_of_its_own(source: str, settings: Settings) -> None:
    """Raise where pairs are to be made of what is judged as a whole."""
    if settings.data.makes_pairs and source == PYDOCS:
        raise SettingError(f"data.pairs = {settings.data.pairs!r}: {PYDOCS} has pairs of its own; leave --pairs out")


def views_of(source: str, settings: Settings, folder: RunFolder) -> dict[str, Collection]:
    """The views of a run whose pairs, where some are made, are there."""
    views = collected(source, settings.data, folder.collection)
    if not settings.data.makes_pairs:
        return views
    return {FULL: views[JUDGED], JUDGED: open_collection(folder.pairs)}


def with_pairs(
    source: str,
    settings: Settings,
    artifacts: Ensurer,
    progress: Progress = SILENT,
    before: Callable[[Collection], object] | None = None,
) -> tuple[Settings, dict[str, Collection]]:
    """The views of a run, of which the collection is there; pairs are made where the settings ask for them, after what
    is to be done with the user's own collection `before` that. Where a collection turns out to have enough of its own,
    the settings that come back say so, and how long made ones train."""
    if not settings.data.makes_pairs:
        return settings, views_of(source, settings, artifacts.run)
    (collection,) = collected(source, settings.data, artifacts.run.collection).values()
    given = given_pairs(collection, settings.data.split) if settings.data.pairs == "auto" else []
    if len(given) >= MANY_GIVEN:
        log.info("%d training pairs are given, and no others are made", len(given))
        settings = replace(settings, data=replace(settings.data, pairs="given"))
        return settings, views_of(source, settings, artifacts.run)
    if before is not None:
        before(collection)
    _ensure_pairs(collection, given, settings, artifacts, progress)
    views = views_of(source, settings, artifacts.run)
    return with_few_steps(settings, len(views[JUDGED].qrels(TRAIN))), views


def _ensure_pairs(
    collection: Collection, given: list[Qrel], settings: Settings, artifacts: Ensurer, progress: Progress
) -> None:
    parts = [part for part in (CORPUS, QUERIES, *collection.splits) if collection.digest(part)]
    parents = {part: collection.digest(part) for part in parts}
    config = {"pairs": settings.data.pairs, "split": settings.data.split}
    wanted = Manifest(KIND, FORMAT_VERSION, config, parents, settings.run.seed)

    def make(folder: Path) -> None:
        PairMaker(collection, settings.run.seed, given, settings.data.split, progress).write(folder)

    artifacts.ensure("collect", "make pairs", artifacts.run.pairs, wanted, make)
    log.info("%s: %s", collection.name, in_words(read_counts(artifacts.run.pairs)))


def judged_split(settings: Settings, judged: Collection) -> str | None:
    """The split of the judged view that neither trains nor chooses; of made pairs always the same."""
    return judged.evaluation_split("auto" if settings.data.makes_pairs else settings.data.split)


def measured_on(settings: Settings, views: dict[str, Collection], split: str | None) -> MeasuredOn | None:
    """What the report measures: judged queries over all documents where there are some, else made ones."""
    if settings.data.makes_pairs:
        given = views[FULL].evaluation_split(settings.data.split)
        if given is not None:
            return MeasuredOn(views[FULL], given, FULL)
    return MeasuredOn(views[JUDGED], split) if split is not None else None


def for_report(folder: RunFolder, settings: Settings, on: MeasuredOn | None) -> dict[str, Any]:
    """What a report says of made pairs; nothing where none were made."""
    if not settings.data.makes_pairs:
        return {}
    return {"pairs": {"measured": on is not None and on.view == JUDGED, **read_counts(folder.pairs)}}
