"""The settings of TILDE (X1): how it is trained, and what of its predictions expands a document."""

from dataclasses import dataclass

from lexigraft.core.errors import require


@dataclass(frozen=True)
class TildeSettings:
    """TILDE trains where `steps` or `epochs` is more than 0. `horizon` is where the learning rate reaches 0: 0 means at
    the last step."""

    steps: int = 0
    epochs: float = 0.0  # more than 0: so many passes over the pairs, whatever `steps` says; 5 in the study
    batch: int = 64  # pairs
    learning_rate: float = 1e-4
    warmup: int = 100
    horizon: int = 0
    dropout: float = 0.0
    query_length: int = 32  # subwords, the two special ones included
    document_length: int = 128
    positives: str = ""  # a TREC run over training queries: its first documents are taken for relevant, too
    n_positives: int = 10  # so many a query
    top: int = 200  # terms looked at, before those are dropped that add nothing
    keep: int = 40  # of the rest, the best first; 0: all
    checkpoint_every: int = 500

    def __post_init__(self) -> None:
        for name, least in (
            ("steps", 0), ("epochs", 0), ("batch", 1), ("warmup", 0), ("horizon", 0), ("query_length", 3),
            ("document_length", 3), ("n_positives", 1), ("top", 1), ("keep", 0), ("checkpoint_every", 1),
        ):  # fmt: skip
            require(getattr(self, name) >= least, f"tilde.{name}", getattr(self, name), f"{least} or more")
        require(self.learning_rate > 0, "tilde.learning_rate", self.learning_rate, "more than 0")
        require(0 <= self.dropout < 1, "tilde.dropout", self.dropout, "0 or more and less than 1")
        require(self.keep <= self.top, "tilde.keep", self.keep, f"at most tilde.top, which is {self.top}, or 0 (all)")

    @property
    def trains(self) -> bool:
        """Whether there is a step to take."""
        return self.steps > 0 or self.epochs > 0
