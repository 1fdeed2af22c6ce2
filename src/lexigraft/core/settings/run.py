"""What a run builds and measures."""

from dataclasses import dataclass

from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.section import Section, setting

LEXICAL = ("bm25", "bm25-plain")  # the systems that every run may have
PEERS = ("dense", "hybrid")  # systems to compare with, by their usual names
GRAFTED = "grafted"  # BM25 with words that documents' dense vectors say they lack
BLEND = "blend"  # of BM25 and a model whose queries need none: one index, asked by words


@dataclass(frozen=True)
class RunSettings(Section, name="run"):
    """What a run builds and measures."""

    systems: tuple[str, ...] = setting(
        (AUTO,),
        'what to build and measure: some of `"bm25"`, `"bm25-plain"` (without stop-words and stemming), `"grafted"` '
        '(BM25 with words that documents borrow from their neighbours and vectors, `[grafted]`), `"blend"` '
        "(BM25 with some of a model whose queries need none, as much as validation queries show to be of use), those "
        "that "
        "`[systems]` names, and the run's own model, which is called by its head: `esplade` where that is grafted, "
        "else `splade`, `unicoil` or `esplade-random`, with `-doc` where `model.queries` is `words`; `esplade` is "
        "understood for any of them; `dense`, a bi-encoder of the same backbone (`[dense]`), and `hybrid`, two of "
        "these fused (`[hybrid]`)",
        auto="bm25 and all that `[systems]` names; without it, bm25 and the run's own model or, where none can be "
        "trained (no `train` extra, fewer than 200 training pairs), bm25 and bm25-plain; where pairs are made "
        "(`data.pairs`), bm25, a model whose queries are looked up, and blend; beside them, where the backbone is a "
        "sentence encoder, that encoder as it comes (`dense.trains`), and a hybrid",
    )
    peers: bool = setting(
        False,
        "where `run.systems` is auto and a model is trained: `dense` and `hybrid` are trained and measured beside it, "
        "but not within a time that was given (`--minutes`), unless the encoder needs no training",
        "Also `--peers`.",
    )
    seed: int = setting(
        0, "decides batches, masks, dropout, random heads and encoders from scratch; another one trains again"
    )
