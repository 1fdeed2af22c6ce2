"""The teacher of distillation, a cross-encoder (F1): how it is trained, on what, and what it reads."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.schedule import checkpoint_every, dropout, learning_rate, warmup
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class TeacherSettings(Section, name="teacher"):
    """A cross-encoder that is trained to distil from. `steps` or `epochs` says how long; with neither there is none.
    With one, `finetune.n_negatives` and `finetune.kl` or `finetune.margin_mse` must be more than 0, and
    `finetune.negatives` and `finetune.teacher` empty: the run makes those files."""

    steps: int = setting(0, "how many steps", at_least=0)
    epochs: float = setting(0.0, "passes over the training pairs, instead of steps", at_least=0)
    batch: int = setting(16, "queries a step, each with its own document and its negatives", at_least=1)
    n_negatives: int = setting(7, "negatives of each query, drawn anew at every step", at_least=1)
    depth: int = setting(
        50, "negatives are drawn from so many of the highest documents that are not relevant; in a run, BM25's",
        at_least=1,
    )  # fmt: skip
    learning_rate: float = learning_rate(5e-5)
    warmup: int = warmup(100)
    dropout: float = dropout(0.1)
    query_length: int = setting(32, "subwords read of a query, special ones not counted", at_least=1)
    document_length: int = setting(128, "subwords read of a document, special ones not counted", at_least=1)
    backbone: str = setting(
        "",
        "what it starts from: as `model.backbone`, or a cross-encoder of one label to train further",
        empty="the run's backbone",
    )
    layers: int = setting(0, "the first so many layers of the backbone are kept", at_least=0, zero="all")
    checkpoint_every: int = checkpoint_every(250)
    validate_every: int = setting(
        250,
        "steps between measurements of MRR@10 on training queries kept apart, whose own documents are ranked among "
        "their negatives; the best weights are kept, as in fine-tuning",
        at_least=0,
        zero="never",
    )
    validation_queries: int = setting(
        250, "so many training queries, and at most a twentieth of them, are kept apart", at_least=1
    )
    measured_queries: int = setting(
        1000,
        "for the report, the teacher ranks BM25's first 100 documents of at most so many measured queries anew",
        at_least=0,
        zero="it is not measured",
    )

    def check_together(self) -> None:
        one = "0, because teacher.steps says how long it trains already; give one of the two"
        require(not (self.steps and self.epochs), "teacher.epochs", self.epochs, one)
        at_most = f"at most teacher.depth, which is {self.depth}"
        require(self.n_negatives <= self.depth, "teacher.n_negatives", self.n_negatives, at_most)

    @property
    def trains(self) -> bool:
        """Whether there is to be a teacher at all."""
        return bool(self.steps or self.epochs)
