"""Rescaling MLM-Head for Neural Sparse Retrieval: encoders whose heads are small and large by their own training.

Every encoder is drawn and trained as a masked language model here, on the collection's own texts. How large the rows of
its tied head are when they are drawn is decided by the spread of its word embeddings: .02 gives a norm of about .4 at a
width of 384, .2 gives about 4. What training makes of that is looked at. Alpha divides the head before fine-tuning.
"""

from collections.abc import Sequence
from statistics import mean

import numpy as np

from lexigraft.study.design import ABOVE, BELOW, WHOLE, Arm, Claim, Contrast, Side, Study, at_cost
from lexigraft.study.evidence import Evidence
from lexigraft.study.verdict import DOES_NOT, HOLDS, OPEN, SEEDS, Decision, lacking_seeds

ALPHAS = (1.0, 4.0, 16.0)
AS_IT_IS, DIVIDED, TOO_FAR = (1.0,), (4.0, 16.0), (64.0,)
SMALL, SMALL_WIDE = "bert-small-norm", "bert-small-norm-wide"
LARGE, ROBERTA, MODERN = "bert-large-norm", "roberta-large-norm", "modernbert-large-norm"
PRETRAINED = "pretrained"
ENCODERS = (PRETRAINED, SMALL, SMALL_WIDE, LARGE, ROBERTA, MODERN)
LARGE_ONES = (LARGE, ROBERTA, MODERN)


def _encoder(family: str, spread: float, width: int = 384, heads: int = 6) -> tuple[str, ...]:
    return (
        f"backbone.family={family}", f"backbone.spread={spread:g}", f"backbone.width={width}",
        f"backbone.heads={heads}",
    )  # fmt: skip


ARMS = (
    Arm(
        PRETRAINED,
        "the encoder that is given, whose head has a middling norm",
        ("model.backbone={backbone}",),
        ALPHAS,
    ),
    Arm(SMALL, "BERT's kind, a head of small norm", _encoder("bert", 0.02), ALPHAS),
    Arm(SMALL_WIDE, "the same, twice as wide", _encoder("bert", 0.02, 768, 12), ALPHAS[:1]),
    Arm(LARGE, "BERT's kind, a head of large norm", _encoder("bert", 0.2), ALPHAS),
    Arm(ROBERTA, "RoBERTa's kind, a head of large norm", _encoder("roberta", 0.15), (*ALPHAS, *TOO_FAR)),
    Arm(MODERN, "ModernBERT's kind, a head of large norm", _encoder("modernbert", 0.2), ALPHAS),
    # How close alpha = auto comes; no claim waits for these.
    Arm(f"{SMALL}-auto", "a small head, alpha = auto", (*_encoder("bert", 0.02), "model.alpha=auto")),
    Arm(f"{LARGE}-auto", "a large head, alpha = auto", (*_encoder("bert", 0.2), "model.alpha=auto")),
    Arm(f"{ROBERTA}-auto", "RoBERTa's kind, alpha = auto", (*_encoder("roberta", 0.15), "model.alpha=auto")),
    Arm(f"{MODERN}-auto", "ModernBERT's kind, alpha = auto", (*_encoder("modernbert", 0.2), "model.alpha=auto")),
)


FINDS_SOMETHING = 0.1  # of BM25's MRR@10, with some alpha
FEWEST = 4
LOOKED_AT = ("MRR@10", "head: mean_norm", "head: anisotropy")


def _follows_the_norm(evidence: Evidence) -> Decision:
    """R1: over all encoders as they are, the ranks of MRR@10 follow those of the norm, the smaller the better, and
    follow anisotropy less closely. An encoder that finds nothing whatever it is divided by has learned too little as a
    language model to tell of norms."""
    said, follows, lacking = list[str](), list[bool](), list[str]()
    for collection in evidence.having(ENCODERS, SEEDS):
        able = [arm for arm in ENCODERS if _finds_something(evidence, collection, arm)]
        sides = [Side(arm, WHOLE, AS_IT_IS) for arm in able]
        found = [[evidence.values(collection, side, measure) for side in sides] for measure in LOOKED_AT]
        if len(able) < FEWEST:
            lacking.append(f"{collection}: only {', '.join(able) or 'none'} of {len(ENCODERS)} encoders find "
                           f"{FINDS_SOMETHING:.0%} of what BM25 finds, with any alpha")  # fmt: skip
            continue
        if any(not values for of_measure in found for values in of_measure):
            lacking.append(f"{collection}: a head that is not divided collapsed in every seed, and was not measured")
            continue
        ranked, sizes, directions = ([mean(values.values()) for values in of_measure] for of_measure in found)
        by_norm, by_turn = _rank_correlation(ranked, sizes), _rank_correlation(ranked, directions)
        follows.append(by_norm <= -0.7 and abs(by_turn) < abs(by_norm))
        said.append(f"{collection}: rank correlation of MRR@10 with norm {by_norm:.2f}, with anisotropy {by_turn:.2f}, "
                    f"of {len(able)} encoders")  # fmt: skip
    if not said:
        return Decision(OPEN, lacking[0]) if lacking else lacking_seeds(evidence, ENCODERS)
    return Decision(HOLDS if all(follows) else DOES_NOT, "; ".join(said))


def _finds_something(evidence: Evidence, collection: str, arm: str) -> bool:
    reference = evidence.bm25(collection)
    least = FINDS_SOMETHING * reference.mrr if reference is not None else 0.0
    return mean(evidence.values(collection, Side(arm), "MRR@10").values()) >= least


def _rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Spearman's, equal values sharing a rank; 0 where all are equal."""
    from scipy.stats import rankdata

    places = [rankdata(values) for values in (ours, theirs)]
    if any(np.ptp(of) == 0 for of in places):
        return 0.0
    return float(np.corrcoef(*places)[0, 1])


CLAIMS = (
    Claim(
        "R1", "Effectiveness follows the norm of the head, not anisotropy or capacity.",
        "MRR@10 .254 to .273 at norms of .41 to 1.66; .194, .045 and .099 at norms of 3.65, 2.55 and 2.63",
        decide=_follows_the_norm, arms=ENCODERS,
    ),
    Claim(
        "R2", "Dividing the head recovers encoders whose head has a large norm.",
        "ModernBERT .045 to .250, Ettin .099 to .238, RoBERTa .194 to .228 (MRR@10)",
        tuple(Contrast(Side(arm, WHOLE, DIVIDED), ABOVE, Side(arm, WHOLE, AS_IT_IS)) for arm in LARGE_ONES),
    ),
    Claim(
        "R3", "Dividing too far collapses.", "RoBERTa, alpha 16: .000 (MRR@10), alpha 4: .228",
        (Contrast(Side(ROBERTA, WHOLE, TOO_FAR), BELOW, Side(ROBERTA, WHOLE, ALPHAS)),),
    ),
    Claim(
        "R4", "Dividing improves effectiveness at equal FLOPS.", "its Figure 2: ModernBERT and Ettin move up and left",
        tuple(
            Contrast(Side(arm, at_cost(share), DIVIDED), ABOVE, Side(arm, at_cost(share), AS_IT_IS))
            for arm in LARGE_ONES for share in (0.5, 1.0)
        ),
    ),
    Claim(
        "R5", "Dividing lowers the loss and makes it smoother.", "its Figure 4: very large first losses at alpha 1",
        tuple(
            Contrast(Side(arm, WHOLE, DIVIDED), BELOW, Side(arm, WHOLE, AS_IT_IS), f"training: {value}")
            for arm in LARGE_ONES for value in ("first loss", "last loss", "roughness")
        ),
    ),
)  # fmt: skip

RESCALING = Study(
    "rescaling", "Rescaling the head", "Rescaling MLM-Head for Neural Sparse Retrieval", "model.alpha",
    (
        "model.backbone=scratch", "backbone.pieces=30000", "model.head=plain", "pretrain.steps=0",
        "mlm.steps={pretrain:2}", "mlm.batch=256", "mlm.learning_rate=5e-4", "mlm.warmup={pretrain:0.2}",
        "finetune.steps={finetune:0.5}", "finetune.warmup={finetune:0.05}", "finetune.ramp={finetune:0.17}",
        "mlm.length=48", "mlm.checkpoint_every=100000", "model.first_terms=0", "finetune.head_rate=1",
        "finetune.temperature=1", "finetune.learning_rate=1e-4", "finetune.flops_q=1e-2", "finetune.flops_d=1e-2",
    ),
    ARMS, CLAIMS, ((10, 40), (7, 20)),
    ("head: mean_norm", "head: anisotropy", "head: alpha", "training: first loss", "training: last loss",
     "training: roughness"),
    most_documents=20_000,  # vectors of a head that is not divided are dense
)  # fmt: skip
