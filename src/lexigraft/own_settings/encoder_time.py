"""A sentence encoder as it comes, within a time: how much of a document it reads, or that it is left out.

It needs no training, and a hybrid of it and BM25 was ahead of what learns from made pairs wherever both were measured
(docs/results/no_judgements.md). So it comes before what trains, and takes what time it needs.
"""

import logging
import time as clock
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.core.config import with_values
from lexigraft.core.errors import ArtifactError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.systems import System, systems_of
from lexigraft.core.systems_table import DENSE
from lexigraft.data.collection import Collection
from lexigraft.dense.encode import digest
from lexigraft.dense.opening import open_dense
from lexigraft.inference.dense_meta import DenseNetwork, embed, read_dense_meta
from lexigraft.own_settings.choice import Choice
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.left_out import left_out
from lexigraft.own_settings.looked_at import sample_texts
from lexigraft.stages.dense_cells import LENGTH as KEPT_LENGTH
from lexigraft.stages.dense_cells import encoder_at, read_length
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import JUDGED

LENGTH = "dense.document_length"
SHORTER = (128, 64, 32)  # subwords of a document, where the time is not enough for as many as the encoder reads
LEAST = 20.0  # seconds: to load the encoder, and to look at its pace
QUERIES, OF_QUERY = 2_000, 8  # that choose and are measured afterwards, at most, and about how many subwords each has
MARGIN = 0.15
ENCODED_FIRST, ENCODED = 2, (16, 128)  # documents: to warm up, and to be timed; the more where the fewer say little
TELLING = 0.25  # seconds, of which what every call takes once is a small part

log = logging.getLogger(__name__)


def encoder_in_time(
    settings: Settings,
    time: GivenTime | None,
    views: Mapping[str, Collection],
    split: str | None,
    artifacts: Ensurer,
    progress: Progress = SILENT,
) -> tuple[Settings, list[Choice]]:
    """`settings`, which name the systems, with as much of a document for an encoder that does not train as the time is
    enough for, or without that; and what is to be said of it. What was encoded before stays as it is."""
    system = next((one for one in systems_of(settings) if one.kind == DENSE), None)
    if time is None or system is None:
        return settings, []
    from lexigraft.learn.dense_training import DenseTraining, is_taken_as_it_comes

    if not is_taken_as_it_comes(system.settings):
        return settings, []
    done = read_manifest(artifacts.run.vectors(next(iter(views)), system.name))
    length = done.config.get(KEPT_LENGTH) if done is not None else None
    if done is not None and not (LENGTH in time.by_hand and _is_other(length, artifacts, system)):
        return _chosen(settings, time, system, length, "its documents were encoded before")
    if time.left < LEAST:
        return without(settings, time, system.name, f"{max(0.0, time.left):.0f} s of the time were left to begin it")
    folder = artifacts.run.of(system)
    DenseTraining(views[JUDGED], split, folder, system.settings, artifacts.of(system), progress).trained()
    network = open_dense(encoder_at(artifacts.run, system), system.settings.model.bits, on_gpu=True)
    # Beside the documents as they are there are those that pairs were cut out of; equal texts are encoded once.
    read = (searched_documents(view, settings.data, SILENT) for view in views.values())
    n_texts, some = len({digest(document.contents) for view in read for document in view}), sample_texts(views[JUDGED])
    afterwards = QUERIES * pace(network, some, OF_QUERY)

    def seconds(length: int) -> float:
        return n_texts * pace(network, some, length) * (1 + MARGIN) + afterwards

    length, why = fitting(_lengths(network, system, time), seconds, n_texts, time)
    return _chosen(settings, time, system, length, why) if length else without(settings, time, system.name, why)


def fitting(lengths: Iterable[int], seconds: Callable[[int], float], n_texts: int, time: GivenTime) -> tuple[int, str]:
    """(how many subwords of each text are read within the time: the first of `lengths` that takes no longer, or 0; and
    why)."""
    needed: dict[int, float] = {}
    for length in lengths:
        needed[length] = seconds(length)
        if needed[length] <= time.left:
            listed = ", ".join(f"{one}: {taken:.0f} s" for one, taken in needed.items())
            why = f"of {n_texts:,} texts it reads as many subwords as fit into the {time.left:.0f} s left ({listed})"
            return length, why
    minutes = (time.spent() + min(needed.values())) / 60
    return 0, f"{n_texts:,} texts, {min(needed)} subwords of each, take it until minute {minutes:.1f} here"


def _is_other(length: int | None, artifacts: Ensurer, system: System) -> bool:
    """Whether more or less is read now than of documents that were encoded before; None is all that can be."""
    try:
        meta = read_dense_meta(encoder_at(artifacts.run, system))
    except ArtifactError:  # it is taken anew
        return True
    return read_length(meta, system) != (length or meta.document_length)


def _lengths(network: DenseNetwork, system: System, time: GivenTime) -> list[int]:
    own = read_length(network.meta, system)
    return [own] if LENGTH in time.by_hand else [own, *(one for one in SHORTER if one < own)]


def pace(network: DenseNetwork, texts: list[str], length: int) -> float:
    """Seconds of a document of which so much is read."""
    reader = network.reading(length)
    embed(reader, texts[:ENCODED_FIRST], are_queries=False)
    seconds, n_read = 0.0, 1
    for count in ENCODED:
        some = texts[-count:]
        began = clock.monotonic()
        embed(reader, some, are_queries=False)
        seconds, n_read = clock.monotonic() - began, max(1, len(some))
        if seconds > TELLING:
            break
    return seconds / n_read


def _chosen(
    settings: Settings, time: GivenTime, system: System, length: int | None, why: str
) -> tuple[Settings, list[Choice]]:
    return chosen(settings, time, system.name, {LENGTH: length} if length else {}, why)


def chosen(
    settings: Settings, time: GivenTime, name: str, found: dict[str, Any], why: str
) -> tuple[Settings, list[Choice]]:
    """The settings with those that were found for a system, but for what is set by hand, and what is to be said."""
    choice = Choice(name, found, why).without(time.by_hand)
    said = ", ".join(f"{one} = {value}" for one, value in found.items()) or "as set"
    log.info("%s: %s (%s)", name, said, why)
    return with_values(settings, choice.settings), [choice]


def without(settings: Settings, time: GivenTime, name: str, why: str) -> tuple[Settings, list[Choice]]:
    """The settings without a system, and what is to be said."""
    found = left_out(settings, time, [name], why)
    assert found is not None, "there is what searches terms"
    return found[0], [found[1]]
