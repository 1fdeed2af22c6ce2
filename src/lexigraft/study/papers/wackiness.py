"""Understanding Wacky Weights: which expansion terms have nothing to do with what they find, and what makes them so.

All weights above 0 count: nothing is cut in training or afterwards. FLOPS press on each side as in the paper. One
change at a time from one base: a grafted head over the collection's own words.
"""

from statistics import mean

from lexigraft.study.design import ABOVE, BELOW, Arm, Claim, Contrast, Side, Study
from lexigraft.study.evidence import Evidence
from lexigraft.study.looks import WACKIEST
from lexigraft.study.verdict import DOES_NOT, HOLDS, OPEN, SEEDS, Decision, lacking_seeds

BASE, SMALL, LARGE, PLAIN, L1, SUM, CLS = "base", "small", "large", "plain", "l1", "sum", "cls"
LOOKS = ("wackiness",)
AUC, IN_DOMAIN, ELSEWHERE = "wackiness: W-AUC", "in-domain ", "out-of-domain "
FAR = 2.0  # standard deviations
FLOPS = ("finetune.flops_q=0.03", "finetune.flops_d=0.02")

ARMS = (
    Arm(BASE, "the collection's own words, FLOPS, MAX", FLOPS, (), (*LOOKS, "rm3")),
    Arm(SMALL, "its 3,000 most frequent words", (*FLOPS, "vocab.size=3000"), (), LOOKS),
    Arm(
        LARGE,
        "its words and those of general texts",
        (*FLOPS, "vocab.source={general}", "vocab.size=100000"),
        (),
        LOOKS,
    ),
    Arm(PLAIN, "the backbone's own subwords", (*FLOPS, "model.head=plain", "pretrain.steps=0"), (), LOOKS),
    Arm(L1, "L1 instead of FLOPS", ("finetune.l1_q=0.003", "finetune.l1_d=0.002"), (), LOOKS),
    Arm(SUM, "SUM instead of MAX", (*FLOPS, "model.pooling=sum"), (), LOOKS),
    Arm(CLS, "the first token alone instead of MAX", (*FLOPS, "model.pooling=cls"), (), LOOKS),
)


def _other_terms(evidence: Evidence) -> Decision:
    """W5: the wackiest subwords of the plain head are shared by seeds of one collection more than by collections. The
    paper looks at twenty; most terms have the highest score, so that which are the first twenty is nearly chance."""
    tops = {}
    for collection in evidence.having((PLAIN,), SEEDS, "wackiness: wackiest"):
        trained = [one.looks["wackiness"] for one in evidence.best(collection, Side(PLAIN)).values()]
        tops[collection] = [set(look["wackiest"]) for look in trained if "wackiest" in look]
    if len(tops) < 2:
        return Decision(OPEN, f"lacks {SEEDS} seeds of {PLAIN} on two collections")
    within = [_shared(a, b) for of in tops.values() for i, a in enumerate(of) for b in of[:i]]
    names = list(tops)
    between = [_shared(a, b) for i, x in enumerate(names) for y in names[:i] for a in tops[x] for b in tops[y]]
    numbers = (
        f"of the {WACKIEST:,} wackiest terms, two seeds share {mean(within):.2f} ({min(within):.2f} at least), two "
        f"collections {mean(between):.2f} ({max(between):.2f} at most)"
    )
    if min(within) > max(between):
        return Decision(HOLDS, numbers)
    return Decision(DOES_NOT if mean(within) <= mean(between) else OPEN, numbers)


def _removal(evidence: Evidence) -> Decision:
    """W3: without the wackiest terms MRR@10 lies below the band of random removals in domain, and not elsewhere."""
    hurt, spared, said, lacking = list[bool](), list[bool](), list[str](), list[str]()
    for collection in evidence.having((BASE,), SEEDS, AUC):
        best = evidence.best(collection, Side(BASE))
        for name, into, kind in (("in domain", hurt, IN_DOMAIN), ("elsewhere", spared, ELSEWHERE)):
            found = [
                float(value) for one in best.values() for key, value in one.looks["wackiness"].items()
                if key.startswith(kind)
            ]  # fmt: skip
            if not found:
                lacking.append(f"{collection}: nothing was removed {name}; give --other")
                continue
            into += [value > FAR for value in found] if into is hurt else [value <= FAR for value in found]
            side = "below" if mean(found) > 0 else "above"
            said.append(f"{collection} {name}: {abs(mean(found)):.1f} standard deviations {side} random removal")
    if not hurt or not spared:
        return Decision(OPEN, lacking[0]) if lacking else lacking_seeds(evidence, (BASE,))
    if all(hurt) and all(spared):
        return Decision(HOLDS, "; ".join(said))
    return Decision(DOES_NOT if not any(hurt) or not any(spared) else OPEN, "; ".join(said))


def _expansions(evidence: Evidence) -> Decision:
    """W4: RM3 is below every model. That generated expansions lie between needs some, which nobody gave."""
    said = []
    for collection in evidence.having((BASE, L1), SEEDS, AUC):
        rm3 = evidence.values(collection, Side(BASE), "rm3: W-AUC")
        if not rm3:
            continue
        models = {arm.name: evidence.values(collection, Side(arm.name), AUC) for arm in ARMS}
        floors = {name: min(values.values()) for name, values in models.items() if len(values) >= SEEDS}
        lowest = min(floors, key=floors.__getitem__)
        said.append(f"{collection}: RM3 {max(rm3.values()):.3f}, the lowest model {floors[lowest]:.3f} ({lowest})")
        if max(rm3.values()) >= floors[lowest]:
            return Decision(DOES_NOT, said[-1])
    if not said:
        return lacking_seeds(evidence, (BASE, L1))
    return Decision(OPEN, f"RM3 is below every model ({'; '.join(said)}); generated expansions were not given")


def _shared(a: set[str], b: set[str]) -> float:
    return len(a & b) / max(1, min(len(a), len(b)))


CLAIMS = (
    Claim(
        "W1", "The larger the vocabulary, the higher W-AUC.",
        "W-AUC .953 (BERT, 30,522 subwords), .985 (ModernBERT, 50,368), .989 (DistilRoBERTa, 50,265)",
        (
            Contrast(Side(LARGE), ABOVE, Side(BASE), AUC), Contrast(Side(BASE), ABOVE, Side(SMALL), AUC),
        ),
    ),
    Claim(
        "W2", "L1 gives the lowest W-AUC.", "W-AUC .934 (L1), .953 (FLOPS), .962 (SUM), .977 (CLS)",
        tuple(Contrast(Side(L1), BELOW, Side(other), AUC) for other in (BASE, SUM, CLS)),
    ),
    Claim(
        "W3", "Removing wacky terms hurts in domain, and elsewhere no more than removing random ones.",
        "its Figures 5 and 6",
        decide=_removal, arms=(BASE,),
    ),
    Claim(
        "W4", "RM3 is less wacky than generated expansions, and these than every SPLADE.",
        "W-AUC .833 (RM3), .890 (Query2Doc), .934 and more (SPLADE)", decide=_expansions, arms=(BASE, L1),
    ),
    Claim(
        "W5", "The training data changes which terms are wacky.",
        "its Table 3: MS MARCO and NQ share few of the wackiest twenty", decide=_other_terms, arms=(PLAIN,),
    ),
)  # fmt: skip

WACKINESS = Study(
    "wackiness", "Wacky weights", "Understanding Wacky Weights: A Dissection of SPLADE's Learned Term Importance",
    "finetune.flops_d", ("model.alpha=1", "finetune.head_rate=1"), ARMS, CLAIMS, ((10, 40),),
    ("wackiness: W-AUC", "wackiness: coverage", "wackiness: expansion_terms_an_input", "rm3: W-AUC"),
)  # fmt: skip
