"""Settings that every training has: how its learning rate rises and falls, dropout, and checkpoints."""

from lexigraft.core.settings.section import setting


def learning_rate(default: float) -> float:
    return setting(default, "the learning rate at its highest, after the warm-up", more_than=0)


def warmup(default: int) -> int:
    return setting(default, "steps until the learning rate is at its highest", at_least=0)


def horizon() -> int:
    return setting(0, "the step at which the learning rate would reach 0", at_least=0, zero="the last one")


def dropout(default: float) -> float:
    return setting(default, "dropout of the backbone while it trains", at_least=0, less_than=1)


def checkpoint_every(default: int) -> int:
    return setting(default, "steps between checkpoints, from which a training that was killed goes on", at_least=1)
