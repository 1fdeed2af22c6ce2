"""The teacher of distillation, a cross-encoder (F1): how it is trained, on what, and what it reads."""

from dataclasses import dataclass

from lexigraft.core.errors import require


@dataclass(frozen=True)
class TeacherSettings:
    """`steps` or `epochs` say how long it trains; with neither there is no teacher."""

    steps: int = 0
    epochs: float = 0.0  # passes over the training pairs, instead of steps
    batch: int = 16  # queries, each with its own document and its negatives
    n_negatives: int = 7  # of each, drawn anew at every step
    depth: int = 50  # drawn from so many of the highest; in a run, BM25 finds them
    learning_rate: float = 5e-5
    warmup: int = 100
    dropout: float = 0.1
    query_length: int = 32  # subwords, special ones not counted
    document_length: int = 128
    backbone: str = ""  # as model.backbone, or a cross-encoder to train further; empty: the backbone of the run
    layers: int = 0  # its first so many; 0 keeps all
    checkpoint_every: int = 250
    validate_every: int = 250  # steps between measurements of MRR@10 on training queries kept apart; 0: none
    validation_queries: int = 250
    measured_queries: int = (
        1000  # at most so many of the measured split, for the report; 0: the teacher is not measured
    )

    def __post_init__(self) -> None:
        for name, least in (
            ("steps", 0), ("epochs", 0), ("batch", 1), ("n_negatives", 1), ("depth", 1), ("warmup", 0),
            ("query_length", 1), ("document_length", 1), ("layers", 0), ("checkpoint_every", 1),
            ("validate_every", 0), ("validation_queries", 1), ("measured_queries", 0),
        ):  # fmt: skip
            require(getattr(self, name) >= least, f"teacher.{name}", getattr(self, name), f"{least} or more")
        require(self.learning_rate > 0, "teacher.learning_rate", self.learning_rate, "more than 0")
        require(0 <= self.dropout < 1, "teacher.dropout", self.dropout, "0 or more and less than 1")
        one = "0, because teacher.steps says how long it trains already; give one of the two"
        require(not (self.steps and self.epochs), "teacher.epochs", self.epochs, one)
        at_most = f"at most teacher.depth, which is {self.depth}"
        require(self.n_negatives <= self.depth, "teacher.n_negatives", self.n_negatives, at_most)

    @property
    def trains(self) -> bool:
        """Whether there is to be a teacher at all."""
        return bool(self.steps or self.epochs)
