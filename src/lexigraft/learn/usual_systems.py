"""What `run.systems` = auto means for a collection: BM25 and, where a model can be trained, the run's own and beside it
one whose queries need no model."""

import logging
from dataclasses import replace
from itertools import islice
from typing import Any

from lexigraft.core.settings import AUTO, BLEND, FORMER_NAME, GRAFTED, LEXICAL, PEERS, FinetuneSettings, Settings
from lexigraft.core.systems import OWN_HOME
from lexigraft.core.systems_table import BM25, KIND, MODEL
from lexigraft.data.collection import Collection
from lexigraft.learn.grafting import why_no_graft
from lexigraft.learn.model_training import why_not
from lexigraft.stages.layout import Contents
from lexigraft.vectors.open_network import may_have_gpu

FEWEST_DOCUMENTS = 50  # of fewer, the nearest others are not near
MOST_DOCUMENTS = 100_000  # of more, encoding is begun only when it was asked for

log = logging.getLogger(__name__)


def with_systems(
    settings: Settings, collection: Collection, former: Contents | None = None, timed: bool = False
) -> Settings:
    """`run.systems` = auto as what it means for a collection, in a folder where a run that had `former` contents may
    have been before; with `run.peers` also the peers, unless they would train and the run is `timed`."""
    if settings.run.systems != (AUTO,):
        return settings
    found = _without_peers(settings, collection, former)
    untrained = _has_use_of_encoder(found)
    if not settings.run.peers and not untrained:
        return found
    if timed and not untrained:
        message = "--minutes: the peers, %s, are left out: the time is the sparse models'; name them in run.systems to "
        log.info(message + "have them beside it", " and ".join(PEERS))
        return found
    if reason := why_not(collection):
        log.info("no peers are trained: %s", reason)
        return found
    # Made pairs say nothing of what is grafted: neighbours share the words that were cut out.
    grafted = () if settings.data.makes_pairs else _grafted(settings, collection)
    return _with(found, tuple(dict.fromkeys((*found.run.systems, *grafted, *PEERS))))


def _without_peers(settings: Settings, collection: Collection, former: Contents | None) -> Settings:
    if settings.systems:
        return _with(settings, tuple(dict.fromkeys((BM25, *settings.systems))))
    if reason := why_not(collection):
        log.info("no model is trained: %s", reason)
        return _with(settings, (*LEXICAL, *_grafted(settings, collection)))
    # Runs from before models were called what they are keep the name: nothing of theirs is made again.
    kept = former is not None and former.models.get(FORMER_NAME) == OWN_HOME
    own = FORMER_NAME if kept else settings.model.usual_name
    blend = (BLEND,) if settings.data.makes_pairs and settings.model.head != "unicoil" else ()
    if settings.model.queries != "model":
        return _with(settings, (BM25, own, *blend))
    if not settings.model.lookup or not _can_look_up(settings):
        return _with(settings, (BM25, own))
    beside = replace(settings.model, queries="table").usual_name
    settings = replace(settings, systems={beside: without_model(settings.finetune)})
    # Made queries cannot tell whether a model that writes queries is worth its milliseconds to people.
    return _with(settings, (BM25, beside, *blend) if blend else (BM25, own, beside))


def _grafted(settings: Settings, collection: Collection) -> tuple[str, ...]:
    """BM25 grafted, where documents have others to borrow from, and there are vectors of them, or these can be had
    without hours of waiting."""
    if settings.grafted.vectors:
        return (GRAFTED,)
    if sum(1 for _ in islice(collection.documents(), FEWEST_DOCUMENTS)) < FEWEST_DOCUMENTS:
        return ()
    reason, n_documents = why_no_graft(settings), collection.about_how_many() or 0
    if not reason and n_documents > MOST_DOCUMENTS and not may_have_gpu():
        reason = (
            f"without a GPU an encoder takes hours for {n_documents:,} documents; name {GRAFTED} in run.systems, or "
            "give vectors of your own (grafted.vectors)"
        )
    if reason:
        log.info("BM25 is not grafted: %s", reason)
    return () if reason else (GRAFTED,)


def _has_use_of_encoder(settings: Settings) -> bool:
    """Whether pairs are made and the backbone is a sentence encoder: as it comes, it knows of meaning what the texts of
    one collection do not teach."""
    if not settings.data.makes_pairs or BLEND not in settings.run.systems:
        return False
    from lexigraft.learn.dense_training import is_taken_as_it_comes

    return settings.dense.trains == AUTO and is_taken_as_it_comes(settings)


def _can_look_up(settings: Settings) -> bool:
    """Whether a model that looks queries up can be trained beside the run's own without more than fine-tuning: a
    teacher or TILDE would have to be trained once more for it."""
    expands = settings.model.queries == "model" and settings.model.head != "unicoil"
    return expands and not settings.teacher.trains and not settings.tilde.trains


def without_model(finetune: FinetuneSettings) -> dict[str, Any]:
    """What a system says whose queries need no model: the run's own settings but for those that press on queries."""
    changed: dict[str, Any] = {name: 0.0 for name in ("flops_q", "l1_q") if getattr(finetune, name)}
    if finetune.mask_kl and not finetune.dk:  # without a mask of documents nothing is masked
        changed["mask_kl"] = 0.0
    return {KIND: MODEL, "model": {"queries": "table"}, **({"finetune": changed} if changed else {})}


def _with(settings: Settings, systems: tuple[str, ...]) -> Settings:
    return replace(settings, run=replace(settings.run, systems=systems))
