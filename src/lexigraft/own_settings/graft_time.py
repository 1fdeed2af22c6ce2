"""A grafted system within a time: how much of a document its encoder reads, or that it is left out by name."""

from collections.abc import Mapping

from lexigraft.core.artifact import read_manifest
from lexigraft.core.settings import GRAFTED, Settings
from lexigraft.data.collection import Collection
from lexigraft.dense.opening import open_dense
from lexigraft.learn.sentence_encoder import sentence_encoder
from lexigraft.own_settings.choice import Choice
from lexigraft.own_settings.encoder_time import LEAST, MARGIN, SHORTER, chosen, fitting, pace, without
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.looked_at import sample_texts
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.grafted_cells import documents_at
from lexigraft.stages.layout import JUDGED

LENGTH = "grafted.length"
GRAFTING = 0.0005  # seconds a document, for all that comes after its vector
SHORTEST = (*SHORTER, 16)  # subwords; what so short a beginning adds was still worth it (docs/results/grafted.md)


def graft_in_time(
    settings: Settings, time: GivenTime | None, views: Mapping[str, Collection], artifacts: Ensurer
) -> tuple[Settings, list[Choice]]:
    """`settings` with as much of a document for the encoder as the time is enough for, or without what is grafted; and
    what is to be said of it. What was encoded before stays as it is."""
    if time is None or GRAFTED not in settings.run.systems or settings.grafted.vectors:
        return settings, []
    done = read_manifest(documents_at(artifacts, next(iter(views))))
    if done is not None and LENGTH not in time.by_hand and isinstance(length := done.config.get(LENGTH), int):
        return chosen(settings, time, GRAFTED, {LENGTH: length}, "its documents were encoded before")
    if time.left < LEAST:
        return without(settings, time, GRAFTED, f"{max(0.0, time.left):.0f} s of the time were left to begin it")
    n_texts = sum(1 for view in views.values() for _ in searched_documents(view, settings.data))
    with sentence_encoder(settings.model.backbone) as (encoder, made):
        network = open_dense(encoder, settings.model.bits, on_gpu=True, fingerprint=made.fingerprint)
        some = sample_texts(views[JUDGED])
        longest = min(settings.grafted.length, network.meta.document_length)
        shorter = () if LENGTH in time.by_hand else SHORTEST

        def seconds(length: int) -> float:
            return n_texts * (pace(network, some, length) * (1 + MARGIN) + GRAFTING)

        length, why = fitting([longest, *(one for one in shorter if one < longest)], seconds, n_texts, time)
    if not length:
        return without(settings, time, GRAFTED, why)
    return chosen(settings, time, GRAFTED, {LENGTH: length}, why)
