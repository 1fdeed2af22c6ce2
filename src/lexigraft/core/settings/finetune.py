"""Fine-tuning: the losses and regularisers, each with its weight, and what they are computed from."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.schedule import checkpoint_every, dropout, horizon, learning_rate, warmup
from lexigraft.core.settings.section import Section, setting

MINED_BY_BM25, MINED_BY_TEACHERS = "bm25", "teachers"


def _weight(default: float, meaning: str, more: str = "") -> float:
    """A loss or regulariser: 0 is without it."""
    return setting(default, meaning, more, at_least=0)


@dataclass(frozen=True)
class FinetuneSettings(Section, name="finetune"):
    """Ranking with in-batch negatives. A loss or regulariser whose weight is 0 is left out."""

    steps: int = setting(150, "how many steps, where `finetune.epochs` is 0", at_least=0)
    epochs: float = setting(0.0, "more than 0: so many passes over the pairs, whatever `finetune.steps` is", at_least=0)
    batch: int = setting(128, "pairs a step, over all processes together", at_least=2)
    learning_rate: float = learning_rate(6e-4)
    head_rate: float = setting(
        0.2,
        "the share of the learning rate that the head's rows learn at: a batch says little of most terms",
        at_least=0,
        zero="they stay as they are",
    )
    table_rate: float = setting(
        30.0,
        "how many times the learning rate the weights of a query table (`model.queries` = table) learn at: they are "
        "logarithms, and a query touches few of them",
        at_least=0,
        zero="they stay as they are",
    )
    frozen_layers: int = setting(
        1,
        "layers of the backbone, from below, which do not train; its embeddings do only where they are a plain head "
        "too; ALBERT's layers are one, and none is frozen",
        at_least=0,
    )
    warmup: int = warmup(10)
    horizon: int = horizon()
    dropout: float = dropout(0.1)
    chunk: int = setting(
        0,
        "texts encoded at once: memory for so many, at the price of a second forward pass; the result is the same",
        at_least=0,
        zero="all of the batch",
    )
    in_batch: float = _weight(1.0, "weight of the ranking loss among the documents of the batch")
    temperature: float = setting(0.5, "scores are divided by it before the softmax", more_than=0)
    margin: float = setting(
        0.0, "what a query's own document must be ahead by: taken from its score before the softmax", at_least=0
    )
    symmetric: bool = setting(True, "documents must find their queries too; hard negatives need not")
    dual: bool = setting(
        True,
        "the ranking loss of the unmasked vectors beside that of the masked ones, where `finetune.qk` or `finetune.dk` "
        "mask some",
    )
    mask_kl: float = _weight(
        0.0,
        "weight of KL(unmasked, masked): masked vectors must rank as the unmasked ones do, which do not learn from it; "
        "needs `finetune.qk` or `finetune.dk`",
    )
    negatives: str = setting(
        "",
        "a TREC run over training queries, such as `lexigraft mine` writes: its documents are their hard negatives, "
        "but for those judged relevant or with the text of one that is; `bm25` or `teachers`: what BM25, or the "
        "first of `finetune.teachers`, ranks high, which the run finds itself",
        empty="none",
    )
    n_negatives: int = setting(
        0,
        "so many hard negatives a pair (1 or more with `finetune.negatives`, else 0), drawn anew at every step; all "
        "queries of the batch have them as negatives",
        at_least=0,
    )
    negatives_depth: int = setting(100, "hard negatives are drawn from so many of the highest", at_least=1)
    teacher: str = setting(
        "",
        "teacher scores of training pairs and hard negatives: a file of query id, document id, score, or a TREC run",
        "What has no score is left out of `finetune.margin_mse` and `finetune.kl`, one of which must have a weight. "
        "`lexigraft teacher score` writes such a file, `teacher.steps` makes one in a run.",
        empty="none",
    )
    margin_mse: float = _weight(
        0.0,
        "weight of MarginMSE: differences of scores as the teacher's, over a query's own document and the negatives "
        "drawn for it",
    )
    kl: float = _weight(
        0.0,
        "weight of KL divergence, over the same documents: softmax of the teacher's scores, softmax of the model's "
        "over `finetune.temperature`: 1 is the papers'",
    )
    teachers: tuple[str, ...] = setting(
        (),
        "systems of the run to learn from, which are trained before: the mean of their scores of all documents of a "
        "batch is what this one's come near to (`finetune.taught`)",
        "Each teacher's scores are divided by the temperature that makes them likeliest on validation queries. One "
        "that is worse than BM25 there is said, and left out; where bm25 is named, too, one that is no better with it "
        "than it is alone.",
        empty="none",
    )
    taught: float = _weight(
        1.0,
        "weight of KL divergence from `finetune.teachers`, over all documents of the batch, of masked and, with "
        "`finetune.dual`, of unmasked vectors",
    )
    joint_flops: float = _weight(0.5, "weight of the joint FLOPS of queries and documents")
    flops_q: float = _weight(0.0, "weight of the FLOPS of queries")
    flops_d: float = _weight(0.0, "weight of the FLOPS of documents")
    l1_q: float = _weight(0.0, "weight of L1 on queries: the sum of a text's weights")
    l1_d: float = _weight(0.0, "weight of L1 on documents")
    df_flops: float = _weight(
        0.0,
        "weight of DF-FLOPS on documents, by which a term costs the more the more documents have it",
        "Shares are those of the documents trained on, refreshed every 100 steps.",
    )
    df_alpha: float = setting(
        0.1, "DF-FLOPS: the share of documents at which a term weighs half", more_than=0, less_than=1
    )
    df_beta: float = setting(10.0, "DF-FLOPS: how sharply that rises", more_than=0)
    pressed: str = setting(
        "whole",
        "which vectors the regularisers see",
        one_of={
            "whole": "all weights, so that terms outside of any mask learn to be silent, too",
            "kept": "what `finetune.qk` and `finetune.dk` keep",
        },
    )
    aim: float | str = setting(
        "auto",
        "the cost, in FLOPS, that the regularisers are steered to: their weight is multiplied by a factor that rises "
        "while the batch's vectors, cut to `finetune.qk` and `finetune.dk`, cost more, and falls while they cost less",
        at_least=0,
        zero="their weight stays as it is set",
        auto="two and a half times what `prune.budget` allows, one and a half times where queries need no model: "
        "pruning takes the rest; 0 where that is none",
    )
    ramp: int = setting(40, "steps over which the regularisers grow to their weight, quadratically", at_least=0)
    qk: int = setting(
        12,
        "terms kept a query where the ranking loss is computed; the model's vectors are cut to them, too, unless "
        "`finetune.dual` also ranks by whole ones",
        at_least=0,
        zero="all",
    )
    dk: int = setting(50, "the same of a document", at_least=0, zero="all")
    checkpoint_every: int = checkpoint_every(75)
    validate_every: int = setting(
        75,
        "steps between measurements of R@10 on dev queries, or on training queries held out where dev is absent or "
        "what will be measured; the latest weights within a standard error of the best are kept",
        at_least=0,
        zero="never",
    )
    patience: int = setting(
        0,
        "training ends early when so many of these measurements in a row were more than a standard error below the "
        "best",
        at_least=0,
        zero="never",
    )
    validation_queries: int = setting(250, "at most so many validation queries", at_least=1)
    validation_documents: int = setting(
        1000, "they are searched among so many documents, their own included", at_least=1
    )
    tensorboard: str = setting(
        "", "a folder for TensorBoard's event files (`pip install 'lexigraft[tensorboard]'`)", empty="none"
    )

    @property
    def miner(self) -> str:
        """The system of the run that finds the hard negatives; empty where a file has them, or there are none."""
        return {MINED_BY_BM25: MINED_BY_BM25, MINED_BY_TEACHERS: (*self.teachers, "")[0]}.get(self.negatives, "")

    @property
    def hears(self) -> bool:
        """Whether it learns from what other systems of the run score."""
        return bool(self.teachers) and self.taught > 0

    def check_together(self) -> None:
        """Raise where a loss is asked for that has nothing to be computed from."""
        ranks = self.in_batch > 0 or self.margin_mse > 0 or self.kl > 0 or self.hears
        require(ranks, "finetune.in_batch", self.in_batch, "more than 0, unless margin_mse or kl is, or teachers teach")
        has_negatives = bool(self.negatives) and self.n_negatives > 0
        drawn = self.n_negatives > 0 or not self.negatives
        require(drawn, "finetune.negatives", self.negatives, "empty, unless finetune.n_negatives is 1 or more")
        at_most = f"at most finetune.negatives_depth, which is {self.negatives_depth}"
        require(self.n_negatives <= self.negatives_depth, "finetune.n_negatives", self.n_negatives, at_most)
        distils = "empty, unless finetune.negatives and n_negatives give documents to compare the own one with"
        require(has_negatives or not self.teacher, "finetune.teacher", self.teacher, distils)
        weighs = self.margin_mse > 0 or self.kl > 0
        heard = "empty, unless finetune.margin_mse or kl gives its scores a weight"
        require(weighs or not self.teacher, "finetune.teacher", self.teacher, heard)
        named = "empty or the name of a file, unless finetune.teachers names a system"
        by_teachers = self.negatives == MINED_BY_TEACHERS
        require(bool(self.teachers) or not by_teachers, "finetune.negatives", self.negatives, named)
        use = "empty, unless finetune.taught gives them a weight or finetune.negatives is teachers"
        require(not self.teachers or self.taught > 0 or by_teachers, "finetune.teachers", list(self.teachers), use)
        masked = "0, unless finetune.qk or dk is more than 0: without a mask nothing is masked"
        require(not self.mask_kl or self.qk + self.dk > 0, "finetune.mask_kl", self.mask_kl, masked)
