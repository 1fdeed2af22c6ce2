"""Pre-training of the grafted head (EMLM)."""

from dataclasses import dataclass

from lexigraft.core.settings.schedule import checkpoint_every, dropout, horizon, learning_rate, warmup
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class PretrainSettings(Section, name="pretrain"):
    """Masked language modelling over the model's own terms (EMLM)."""

    steps: int = setting(50, "how many steps", at_least=0, zero="no pre-training")
    batch: int = setting(64, "texts a step", at_least=2)
    learning_rate: float = learning_rate(5e-4)
    warmup: int = warmup(10)
    horizon: int = horizon()
    dropout: float = dropout(0.0)
    source: str = setting(
        "",
        "the texts it reads: a collection or texts, given as `--data` is",
        empty="the collection's own documents and training queries",
    )
    texts: int = setting(
        0,
        "so many distinct ones of them, drawn once; fewer than steps x batch are read again, masked anew",
        at_least=0,
        zero="all",
    )
    validate_every: int = setting(
        0,
        "steps between looks at texts kept apart, in which only the first subword, or only the later subwords, of "
        "terms are masked",
        "More: [pretraining](howto/pretraining.md).",
        at_least=0,
        zero="never",
    )
    validation_texts: int = setting(500, "so many texts, and at most a tenth of them, are kept apart", at_least=1)
    checkpoint_every: int = checkpoint_every(25)
