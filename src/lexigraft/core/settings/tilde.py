"""TILDE (X1): how it is trained, and what of its predictions expands a document."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.schedule import checkpoint_every, dropout, horizon, learning_rate, warmup
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class TildeSettings(Section, name="tilde"):
    """TILDE, which expands documents by words that their queries may use. It trains where `steps` or `epochs` is more
    than 0; `model.expansions` must then be empty."""

    steps: int = setting(0, "how many steps, where `tilde.epochs` is 0", at_least=0)
    epochs: float = setting(
        0.0, "more than 0: so many passes over the pairs, whatever `tilde.steps` is; 5 in the study", at_least=0
    )
    batch: int = setting(64, "pairs a step", at_least=1)
    learning_rate: float = learning_rate(1e-4)
    warmup: int = warmup(100)
    horizon: int = horizon()
    dropout: float = dropout(0.0)
    query_length: int = setting(
        32, "subwords it reads of a query's beginning, the two special ones included", at_least=3
    )
    document_length: int = setting(
        128, "subwords it reads of a document's beginning, the two special ones included", at_least=3
    )
    positives: str = setting(
        "",
        "a TREC run over training queries, such as `lexigraft fuse --method borda` writes: its first documents count "
        "as relevant, beside the labelled ones",
        empty="none",
    )
    n_positives: int = setting(10, "so many documents of `tilde.positives` a query", at_least=1)
    top: int = setting(
        200,
        "terms looked at for a document, before stop-words, pieces of words and the document's own words are dropped",
        at_least=1,
    )
    keep: int = setting(
        40, "so many of the words that are left are added to a document, the likeliest first", at_least=0, zero="all"
    )
    checkpoint_every: int = checkpoint_every(500)

    def check_together(self) -> None:
        require(self.keep <= self.top, "tilde.keep", self.keep, f"at most tilde.top, which is {self.top}, or 0 (all)")

    @property
    def trains(self) -> bool:
        """Whether there is a step to take."""
        return self.steps > 0 or self.epochs > 0
