"""How long a model trains on pairs that were made: once through them, and no longer.

Made queries are not people's, and a model should not learn them by heart. A model of twelve passes over the made pairs
of a small collection was below BM25 on queries that people had asked, and one of half a pass above it (docs/LOG.md).
"""

import logging
from dataclasses import replace

from lexigraft.core.settings import FinetuneSettings, Settings

MADE_PASSES = 1
BATCH = 32  # so that one pass through few pairs has some steps
USUAL = FinetuneSettings()

log = logging.getLogger(__name__)


def with_few_steps(settings: Settings, n_pairs: int) -> Settings:
    """The settings with one pass over the made pairs, at most as many steps as usual; what is set otherwise than usual
    of steps, passes and batch stays."""
    given = settings.finetune
    if (given.steps, given.epochs, given.batch) != (USUAL.steps, USUAL.epochs, USUAL.batch):
        return settings
    steps = max(1, min(USUAL.steps, MADE_PASSES * n_pairs // BATCH))
    log.info("made pairs train %d steps of %d pairs, %.1f passes over them", steps, BATCH, steps * BATCH / n_pairs)
    every = max(1, min(given.validate_every, -(-steps // 2))) if given.validate_every else 0
    return replace(settings, finetune=replace(given, steps=steps, batch=BATCH, validate_every=every))
