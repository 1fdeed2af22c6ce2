"""Masked language modelling (T2): how long, on what, and what it costs."""

from dataclasses import dataclass, replace

from lexigraft.core.errors import require
from lexigraft.core.settings.schedule import checkpoint_every, horizon, learning_rate, warmup
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class MlmSettings(Section, name="mlm"):
    """Masked language modelling of the backbone, before all else. `steps` or `epochs` says how long; with neither there
    is none. A second corpus follows on the first, with a warm-up and a decay of its own."""

    steps: int = setting(0, "how many steps", at_least=0)
    epochs: float = setting(0.0, "passes over the texts, instead of steps", at_least=0)
    batch: int = setting(64, "texts a step", at_least=1)
    learning_rate: float = learning_rate(2e-4)
    warmup: int = warmup(100)
    horizon: int = horizon()
    length: int = setting(64, "subwords read of a text, the two special ones included", at_least=3)
    flops: float = setting(0.0, "weight of the FLOPS of its vectors (middle-training)", at_least=0)
    sampled: int = setting(
        0, "so many subwords, drawn at every step, stand for all in the softmax", at_least=0, zero="all of them"
    )
    checkpoint_every: int = checkpoint_every(250)
    source: str = setting(
        "",
        "the texts: a collection or texts, given as `--data` is",
        empty="the collection's own documents and training queries",
    )
    second: str = setting(
        "",
        "a second corpus, given as `--data` is, on which training goes on afterwards; the learning rate warms up and "
        "decays again",
        empty="none",
    )
    second_steps: int = setting(0, "how many steps on the second corpus", at_least=0)
    second_epochs: float = setting(0.0, "passes over the second corpus, instead of steps", at_least=0)

    def check_together(self) -> None:
        one = "0, because {} says how long it trains already; give one of the two"
        require(not (self.steps and self.epochs), "mlm.epochs", self.epochs, one.format("mlm.steps"))
        both = self.second_steps and self.second_epochs
        require(not both, "mlm.second_epochs", self.second_epochs, one.format("mlm.second_steps"))
        self._require_what_belongs_together()

    def _require_what_belongs_together(self) -> None:
        """Raise where a corpus is named that nothing is done with, or something is to be done with none."""
        goes_on = bool(self.second_steps or self.second_epochs)
        require(bool(self.second) or not goes_on, "mlm.second", self.second, "a corpus for mlm.second_steps to read")
        how_long = "empty, unless mlm.second_steps or second_epochs says how long it trains on it"
        require(goes_on or not self.second, "mlm.second", self.second, how_long)
        first = "empty, unless mlm.steps or epochs says how long it trains on the first corpus"
        require(self.trains or not self.second, "mlm.second", self.second, first)
        require(self.trains or not self.source, "mlm.source", self.source, "empty, unless mlm.steps or epochs is given")

    def on_second(self) -> "MlmSettings":
        """The settings of the second corpus alone: as those of the first, with a schedule of its own."""
        alone = replace(self, source="", second="", second_steps=0, second_epochs=0.0, horizon=0)
        return replace(alone, steps=self.second_steps, epochs=self.second_epochs)

    @property
    def trains(self) -> bool:
        """Whether anything is asked for at all."""
        return bool(self.steps or self.epochs)
