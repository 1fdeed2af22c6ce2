"""The grafted system: BM25's index with words that documents' dense vectors say they lack."""

from dataclasses import dataclass

from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class GraftedSettings(Section, name="grafted"):
    """Documents borrow words from the nearest others in the space of a sentence encoder, and get those that a ridge
    regression reads off their own vector, both in closed form. Queries stay plain words."""

    vectors: str = setting(
        "",
        "a file of documents' vectors, made by any encoder (.npy in the documents' order, or Parquet with their ids)",
        "[How to](howto/own_vectors.md).",
        empty="they are made by the sentence encoder that `model.backbone` is",
    )
    length: int = setting(128, "subwords that the encoder reads of a document, special ones included", at_least=8)
    neighbours: int = setting(10, "documents that each borrows from", at_least=1, at_most=1000)
    borrowed: float = setting(
        0.7,
        "how much of the neighbours' mean weights is added; 0 with `grafted.told` 0 is BM25",
        at_least=0,
        at_most=10,
    )
    told: float = setting(
        2.0, "how much of what the regression reads off a document's vector is added", at_least=0, at_most=10
    )
