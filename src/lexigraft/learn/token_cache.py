"""The texts a stage trains on, read once: arrays beside its checkpoint, mapped by all its processes, gone with it.

Like a checkpoint, a cache has the recipe of the model it is on the way to; one of another recipe is made again.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest
from lexigraft.inference.reading import ReadTexts
from lexigraft.stages.ensure import Makers, keep_or_make
from lexigraft.vocab.aligned import AlignedTexts
from lexigraft.vocab.bags import WeightedBags
from lexigraft.vocab.batching import batches
from lexigraft.vocab.ragged_store import RaggedWriter, open_ragged

KIND, FORMAT_VERSION = "texts", 1


def cached(folder: Path, recipe: dict[str, Any], write: Callable[[Path], None]) -> Path:
    """`folder` with what `write(draft)` left there, now or in a call that was stopped later."""
    keep_or_make(folder, Manifest(KIND, FORMAT_VERSION, recipe), write, Makers.LEADER)
    return folder


def write_aligned(folder: Path, name: str, texts: Iterable[str], read: Callable[[Sequence[str]], AlignedTexts]) -> int:
    """Texts as subwords, some thousand at a time; returns how many there were."""
    with RaggedWriter(folder, name) as writer:
        for some in batches(texts, len):
            writer.append(read(some))
    return writer.n_rows


def write_texts(folder: Path, name: str, texts: Iterable[str], read: Callable[[Sequence[str]], ReadTexts]) -> None:
    """Texts as subwords and as bags of terms."""
    with RaggedWriter(folder, f"{name}.aligned") as aligned, RaggedWriter(folder, f"{name}.bags") as bags:
        for some in batches(texts, len):
            found = read(some)
            aligned.append(found.aligned)
            bags.append(found.bags)


def open_aligned(folder: Path, name: str) -> AlignedTexts:
    return open_ragged(AlignedTexts, folder, name)


def open_texts(folder: Path, name: str) -> ReadTexts:
    return ReadTexts(open_aligned(folder, f"{name}.aligned"), open_ragged(WeightedBags, folder, f"{name}.bags"))
