"""The Role of Vocabularies in Learning Sparse Representations for Ranking: plain SPLADE against a hundred thousand
terms, grafted or random.

All arms read the same texts for as many steps before they learn to rank: the plain head as a masked language model, the
grafted one by EMLM. The random head is not pre-trained, as in the paper. All have the same rates and alpha = 1: a
head that is divided first gives dense vectors under the same pressure.
"""

from lexigraft.study.design import (
    ABOVE,
    BM25,
    COSTS,
    NOT_BELOW,
    WHOLE,
    Arm,
    Claim,
    Contrast,
    Side,
    Study,
    at_cost,
    cut_to,
)

PLAIN, GRAFTED, RANDOM, STRICT, FREE = "splade", "esplade", "rand", "esplade-strict-mask", "esplade-free"
PRESSED, BETWEEN = (0.5, 2.0), (1.0,)  # whole vectors come out about as short as the paper's
PRESSED_HARD = (*PRESSED, 16.0, 128.0)  # for rows drawn at random, which begin with hundreds of terms a text
LARGE = ("vocab.size=100000", "vocab.stemmer=none", "vocab.stopwords=none", "vocab.min_count=2")
LIGHT, HARD = cut_to(7, 20), cut_to(5, 10)

ARMS = (
    Arm(
        PLAIN, "the backbone's own head over its own subwords",
        ("model.head=plain", "pretrain.steps=0", "mlm.steps={pretrain:1}", "mlm.batch=256", "mlm.learning_rate=3e-4"),
        PRESSED,
    ),
    Arm(GRAFTED, "100,000 words, grafted, pre-trained by EMLM", LARGE, PRESSED),
    Arm(RANDOM, "100,000 words, rows drawn at random", (*LARGE, "model.head=random", "pretrain.steps=0"), PRESSED_HARD),
    Arm(
        STRICT, "esplade whose training keeps (5, 10) terms by a mask",
        (*LARGE, "finetune.qk=5", "finetune.dk=10"), BETWEEN,
    ),
    Arm(FREE, "esplade without a regulariser, kept to (5, 10) terms by a mask",
        (*LARGE, "finetune.qk=5", "finetune.dk=10"), (0.0,)),
    # What the paper's Tables 6 and 7 try beside, and what others added since; no claim waits for these.
    Arm(
        "esplade-strict-mask-dual", "the strict mask, and whole vectors ranked by, too",
        (*LARGE, "finetune.qk=5", "finetune.dk=10", "finetune.dual=true"), BETWEEN,
    ),
    Arm(
        "esplade-strict-mask-kl", "the strict mask, whose ranking must be that of whole vectors",
        (*LARGE, "finetune.qk=5", "finetune.dk=10", "finetune.dual=true", "finetune.mask_kl=1"), BETWEEN,
    ),
    Arm(
        "esplade-wide-mask", "a mask of (100, 200), which hardly binds",
        (*LARGE, "finetune.qk=100", "finetune.dk=200"), BETWEEN,
    ),
    Arm("esplade-df-flops", "DF-FLOPS on documents", (*LARGE, "finetune.df_flops=0.1"), (0.0, 1.0)),
    Arm("esplade-margin", "a margin of 1 in the ranking loss", (*LARGE, "finetune.margin=1"), BETWEEN),
)  # fmt: skip

CLAIMS = (
    Claim(
        "V1", "Unpruned, plain SPLADE is most effective, at about twice the FLOPS of the models of 100,000 terms.",
        "MRR@10 .2733 @ .0217 (splade-32K), .2549 @ .0100 (esplade-100K), .2484 @ .0128 (rand-100K)",
        (
            Contrast(Side(PLAIN), ABOVE, Side(GRAFTED)), Contrast(Side(PLAIN), ABOVE, Side(RANDOM)),
            Contrast(Side(PLAIN), ABOVE, Side(GRAFTED), "FLOPS"), Contrast(Side(PLAIN), ABOVE, Side(RANDOM), "FLOPS"),
        ),
    ),
    Claim(
        "V2", "Within BM25's FLOPS both models of 100,000 terms beat plain SPLADE and BM25.",
        "MRR@10 .251 (esplade-100K), .2371 (rand-100K), .2243 (splade-32K), .203 (BM25)",
        tuple(
            Contrast(Side(large, at_cost(1)), ABOVE, Side(other, at_cost(1) if other != BM25 else WHOLE))
            for large in (GRAFTED, RANDOM) for other in (PLAIN, BM25)
        ),
    ),
    Claim(
        "V3", "Grafted beats random at equal or lower FLOPS, at every setting.",
        "MRR@10 .2549 against .2484 unpruned, .2491 against .2395 at (5,20), .251 against .2371 at (5,10)",
        tuple(Contrast(Side(GRAFTED, at_cost(share)), ABOVE, Side(RANDOM, at_cost(share))) for share in COSTS),
    ),
    Claim(
        "V4", "Light pruning to (7, 20) does not hurt the grafted model.",
        "MRR@10 .2579 at (7,20), .2549 unpruned",
        (Contrast(Side(GRAFTED, LIGHT), NOT_BELOW, Side(GRAFTED)),),
    ),
    Claim(
        "V5", "Strict masks in training lose to pruning afterwards, and without a regulariser FLOPS are inflated.",
        "masks of (5, 10) .1776 @ .0020, pruned afterwards .2324 @ .0046; without a regulariser .1977 @ .0163",
        (
            Contrast(Side(GRAFTED, HARD), ABOVE, Side(STRICT, HARD)),  # as the paper compares them: as many terms
            *(Contrast(Side(GRAFTED, at_cost(share)), ABOVE, Side(STRICT, at_cost(share))) for share in (0.25, 1.0)),
            Contrast(Side(FREE), ABOVE, Side(STRICT), "FLOPS"),
        ),
    ),
)  # fmt: skip

VOCABULARY = Study(
    "vocabulary", "The role of vocabularies", "The Role of Vocabularies in Learning Sparse Representations for Ranking "
    "(arXiv 2509.16621)", "finetune.joint_flops", ("model.alpha=1", "finetune.head_rate=1"), ARMS, CLAIMS,
    ((7, 20), (5, 20), (5, 10)),
    ("training: last L0_q", "training: last L0_d", "head: mean_norm", "head: alpha"),
)  # fmt: skip
