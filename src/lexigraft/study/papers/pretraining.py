"""The Pre-Training Study of Expanded-SPLADE Models on Web Document Titles: which texts EMLM reads, how often, and how
far away the end of its learning rate is.

*overlap* reads the texts that fine-tuning learns from, *indep* general ones. *repeat* reads an eighth as many texts,
each about eight times. *lr-l* lets the learning rate decay to the last step, *lr-h* to one 4.83 times as far away
(600,000 of 2.9 million steps in the paper), and changes nothing else.
"""

from statistics import mean

from lexigraft.study.design import ABOVE, BELOW, LEVEL, NOT_BELOW, Arm, Claim, Contrast, Side, Study, cut_to
from lexigraft.study.evidence import Evidence
from lexigraft.study.verdict import DOES_NOT, HOLDS, OPEN, SEEDS, Decision, lacking_seeds

OVERLAP_L, OVERLAP_H = "overlap-repeat-lr-l", "overlap-repeat-lr-h"
REPEAT_L, REPEAT_H = "indep-repeat-lr-l", "indep-repeat-lr-h"
UNIQUE_L, UNIQUE_H = "indep-uniq-lr-l", "indep-uniq-lr-h"
LONG = "indep-uniq-lr-h-long"
GENERAL, EIGHTH, HIGH = (
    "pretrain.source={general}",
    "pretrain.texts={records:0.125}",
    "pretrain.horizon={pretrain:4.83}",
)
PRESSED = (0.5,)
LOOKS = ("pretraining", "masked", "logits", "postings")
STRICT = cut_to(5, 10)

ARMS = (
    Arm(OVERLAP_L, "own texts, eight times each, the rate decays to the last step", (EIGHTH,), PRESSED, LOOKS),
    Arm(OVERLAP_H, "own texts, eight times each, the rate stays high", (EIGHTH, HIGH), PRESSED, LOOKS),
    Arm(REPEAT_L, "general texts, eight times each, the rate decays", (GENERAL, EIGHTH), PRESSED, LOOKS),
    Arm(REPEAT_H, "general texts, eight times each, the rate stays high", (GENERAL, EIGHTH, HIGH), PRESSED, LOOKS),
    Arm(UNIQUE_L, "general texts, each once, the rate decays", (GENERAL,), PRESSED, LOOKS),
    Arm(UNIQUE_H, "general texts, each once, the rate stays high", (GENERAL, HIGH), PRESSED, LOOKS),
    Arm(
        LONG, "general texts, on to where the rate of lr-h ends", (GENERAL, "pretrain.steps={pretrain:4.83}"), PRESSED,
        LOOKS,
    ),
)  # fmt: skip

COLLAPSED = 0.5  # of the other's MRR@10, or less


def _longer_collapses(evidence: Evidence) -> Decision:
    """P5: fine-tuning fails after the longer pre-training. It does where no seed comes to half of what the shorter one
    gives; a few hundredths more or less are no collapse."""
    said, collapsed = list[str](), list[bool]()
    for collection in evidence.having((LONG, UNIQUE_H), SEEDS):
        long, short = (evidence.values(collection, Side(arm), "MRR@10") for arm in (LONG, UNIQUE_H))
        collapsed += [value <= COLLAPSED * mean(short.values()) for value in long.values()]
        said.append(f"{collection}: {mean(long.values()):.4f} ({min(long.values()):.4f} at least) after the longer, "
                    f"{mean(short.values()):.4f} after the shorter, {len(long)} seeds")  # fmt: skip
    if not collapsed:
        return lacking_seeds(evidence, (LONG, UNIQUE_H))
    return Decision(HOLDS if all(collapsed) else OPEN if any(collapsed) else DOES_NOT, "; ".join(said))


CLAIMS = (
    Claim(
        "P1", "General texts with a rate that stays high are mostly best, unpruned and at (5, 10).",
        "MRR@10 unpruned .2549 (indep-uniq-lr-h) against .2455 to .2539; at (5,10) .2510 against .2389 to .2517",
        tuple(
            Contrast(Side(UNIQUE_H, at), NOT_BELOW if other in (REPEAT_H, UNIQUE_L) else ABOVE, Side(other, at))
            for at in ("whole", STRICT) for other in (OVERLAP_L, OVERLAP_H, REPEAT_L, UNIQUE_L, REPEAT_H)
        ),
    ),
    Claim(
        "P2", "Those models name fewer masked terms and have a higher logit-score-std.",
        "logit-score-std 9.65 and 9.49 against 4.00 to 6.77; lower accuracies in its Figure 2",
        tuple(
            contrast
            for other in (OVERLAP_L, OVERLAP_H, UNIQUE_L)
            for contrast in (
                Contrast(Side(UNIQUE_H), BELOW, Side(other), "masked: first_accuracy"),
                Contrast(Side(UNIQUE_H), ABOVE, Side(other), "logits: logit-score-std"),
            )
        ),
    ),
    Claim(
        "P3", "At (5, 10) those models cost more, and the lengths of their lists vary more.",
        "FLOPS .00220 against .00178 (overlap-repeat-lr-h); std of list lengths 19.92 against 17.46",
        (
            Contrast(Side(UNIQUE_H, STRICT), ABOVE, Side(OVERLAP_H, STRICT), "FLOPS"),
            Contrast(Side(UNIQUE_H, STRICT), ABOVE, Side(OVERLAP_H, STRICT), f"postings: {STRICT} std"),
        ),
    ),
    Claim(
        "P4", "Reading general texts eight times instead of once barely matters.",
        "MRR@10 unpruned .2539 against .2549 (lr-h), .2511 against .2491 (lr-l); at (5,10) .2517 against .2510",
        tuple(
            Contrast(Side(repeat, at), LEVEL, Side(unique, at))
            for repeat, unique in ((REPEAT_L, UNIQUE_L), (REPEAT_H, UNIQUE_H)) for at in ("whole", STRICT)
        ),
    ),
    Claim(
        "P5", "Much longer pre-training makes fine-tuning collapse.",
        "after 1.2 and 2.9 million steps instead of 600,000 fine-tuning failed (its Appendix F)",
        decide=_longer_collapses, arms=(LONG, UNIQUE_H),
    ),
)  # fmt: skip

PRETRAINING = Study(
    "pretraining", "The pre-training study", "The Pre-Training Study of Expanded-SPLADE Models on Web Document Titles "
    "(arXiv 2605.01407)", "finetune.joint_flops",
    ("vocab.size=100000", "vocab.stemmer=none", "vocab.stopwords=none", "model.alpha=1", "finetune.head_rate=1"),
    ARMS, CLAIMS, ((7, 20), (5, 20), (5, 10)),
    ("masked: first_accuracy", "masked: later_accuracy", "logits: logit-score-std", "logits: doc-score-avg@10",
     "logits: doc-score-std@10", "postings: (5,10) mean", "postings: (5,10) std"),
)  # fmt: skip
