"""What a run builds and measures."""

from dataclasses import dataclass

from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.section import Section, setting

SYSTEMS = ("bm25", "bm25-plain", "esplade")


@dataclass(frozen=True)
class RunSettings(Section, name="run"):
    """What a run builds and measures."""

    systems: tuple[str, ...] = setting(
        (AUTO,),
        'what to build and measure: some of `"bm25"`, `"bm25-plain"` (without stop-words and stemming) and '
        '`"esplade"`, the learned model',
        some_of=SYSTEMS,
        auto="bm25 and esplade, or where no model can be trained (no `train` extra, fewer than 200 training pairs) "
        "bm25 and bm25-plain",
    )
    seed: int = setting(
        0, "decides batches, masks, dropout, random heads and encoders from scratch; another one trains again"
    )
