"""The dense peer: a bi-encoder of the same backbone, trained on the same pairs."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.schedule import checkpoint_every, dropout, learning_rate
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class DenseSettings(Section, name="dense"):
    """A bi-encoder of the run's backbone (`model.backbone`, `model.layers`): one vector a text, the mean over its
    tokens, of unit length. It trains on the pairs of fine-tuning, with the same queries held out and, where
    `finetune.n_negatives` asks for some, the same hard negatives."""

    trains: str = setting(
        "auto",
        "whether it learns, or is taken as it comes: all layers of the backbone, without `mlm`. That is for sentence "
        "encoders, whose vectors mean something before any training",
        one_of={
            "auto": "it learns, unless pairs are made, the backbone is a sentence encoder, and neither `dense.steps` "
            "nor `dense.epochs` is set",
            "on": "",
            "off": "",
        },
    )
    steps: int = setting(
        0,
        "how many steps",
        at_least=0,
        zero="`dense.epochs` says it or, where that is 0 too, as many as pre-training and fine-tuning of the run's "
        "model have together",
    )
    epochs: float = setting(0.0, "passes over the training pairs, instead of steps", at_least=0)
    batch: int = setting(0, "pairs a step", at_least=0, zero="as `finetune.batch`")
    learning_rate: float = learning_rate(1e-4)
    warmup: int = setting(
        0, "steps until the learning rate is at its highest; it then falls to 0 at the last step", at_least=0,
        zero="a tenth of all steps",
    )  # fmt: skip
    dropout: float = dropout(0.1)
    temperature: float = setting(
        0.05, "cosines are divided by it before the softmax: .05 is a scale of 20", more_than=0
    )
    symmetric: bool = setting(True, "documents must find their queries too; hard negatives need not")
    query_length: int = setting(
        0, "subwords read of a query, special ones included", at_least=0,
        zero="as `model.query_length`; of an encoder as it comes, as many as its own files say",
    )  # fmt: skip
    document_length: int = setting(
        0, "subwords read of a document, special ones included", at_least=0,
        zero="as `model.document_length`; of an encoder as it comes, as many as its own files say",
    )  # fmt: skip
    bits: int = setting(
        32, "of a number in the stored vectors of documents", one_of={32: "", 16: "half of the bytes, and slower"}
    )
    checkpoint_every: int = checkpoint_every(75)
    validate_every: int = setting(
        75,
        "steps between measurements of R@10 on the queries that fine-tuning validates by; the latest weights within a "
        "standard error of the best are kept",
        at_least=0,
        zero="never",
    )

    def check_together(self) -> None:
        one = "0, because dense.steps says how long it trains already; give one of the two"
        require(not (self.steps and self.epochs), "dense.epochs", self.epochs, one)
