"""Masked language modelling (T2): how long, on what, and what it costs."""

from dataclasses import dataclass, replace

from lexigraft.core.errors import require


@dataclass(frozen=True)
class MlmSettings:
    """`steps` or `epochs` say how long; with neither there is none. `horizon` is where the learning rate reaches 0 (0:
    at the last step). A `second` corpus follows on the first, with a warm-up and a decay of its own."""

    steps: int = 0
    epochs: float = 0.0  # passes over the texts, instead of steps
    batch: int = 64
    learning_rate: float = 2e-4
    warmup: int = 100
    horizon: int = 0
    length: int = 64  # subwords of a text, the two special ones included
    flops: float = 0.0  # weight of the FLOPS of the vectors (middle-training)
    sampled: int = 0  # so many subwords drawn a step stand for all in the softmax; 0: all of them
    checkpoint_every: int = 250
    source: str = ""  # the texts: another collection or a file of texts; empty: the collection's own
    second: str = ""  # a second corpus, on which training goes on afterwards; empty: none
    second_steps: int = 0
    second_epochs: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (
            ("steps", 0), ("epochs", 0), ("batch", 1), ("warmup", 0), ("horizon", 0), ("length", 3), ("flops", 0),
            ("sampled", 0), ("checkpoint_every", 1), ("second_steps", 0), ("second_epochs", 0),
        ):  # fmt: skip
            require(getattr(self, name) >= least, f"mlm.{name}", getattr(self, name), f"{least} or more")
        require(self.learning_rate > 0, "mlm.learning_rate", self.learning_rate, "more than 0")
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
