"""The settings that all arms of a study share: how long is trained, how much is read, and that nothing but the
regulariser makes vectors sparse."""

import hashlib
import json
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lexigraft.core.errors import SettingError
from lexigraft.data.sources import open_source
from lexigraft.learn.training_data import training_queries
from lexigraft.study.design import Arm, Study

TINY, CPU, GPU = "tiny", "cpu", "gpu"
SUBWORDS_A_WORD, SPECIAL = 1.4, 2
LONGEST_QUERY, LONGEST_DOCUMENT = 64, 256
READ = 0.9  # of the texts are read whole
LOOKED_AT = 5000  # texts

# No mask in training: what is short is short by the regulariser. The same embeddings policy, rates and reading for
# all arms of a study; what an arm changes stands in its own settings.
SHARED = (
    'run.systems=["bm25","esplade"]', "data.split=auto", "model.lookup=false", "model.own_words=0", "model.pooled=all",
    "model.first_terms=300", "finetune.qk=0", "finetune.dk=0", "finetune.dual=false", "finetune.pressed=whole",
    "finetune.aim=0", "finetune.symmetric=true", "finetune.dropout=0.1", "finetune.joint_flops=0",
    "prune.budget=none", "prune.budgets=[[0,0]]", "search.k=10", "evaluate.timing_queries=1", "evaluate.timing_runs=1",
    "evaluate.run_depth=1", "evaluate.measures=[]",
)  # fmt: skip


class Scale(NamedTuple):
    """How much is trained. `tokens` is what a batch of fine-tuning may read, queries and documents together."""

    name: str
    layers: int
    pretrain_steps: int
    finetune_steps: int
    rate: float
    tokens: int
    decides: bool
    settings: tuple[str, ...] = ()
    last: tuple[str, ...] = ()  # that no study changes

    def some(self, weights: tuple[float, ...]) -> tuple[float, ...]:
        """The weights that are trained: all, or the first and the last where nothing is to be decided in seconds."""
        return weights if self.name != TINY else tuple(dict.fromkeys((*weights[:1], *weights[-1:])))

    def batch(self, lengths: "Lengths") -> int:
        """The power of two of pairs that comes closest to `tokens`."""
        pairs = self.tokens / (lengths.query + lengths.document)
        return int(2 ** max(3, min(10, round(math.log2(pairs)))))


SCALES = {
    TINY: Scale(
        TINY, layers=1, pretrain_steps=4, finetune_steps=12, rate=1e-3,
        tokens=600, decides=False,
        settings=("model.backbone=scratch", "vocab.min_count=1", "finetune.validate_every=6",
                  "finetune.validation_queries=20"),
        last=("model.backbone=scratch", "backbone.width=32", "backbone.heads=2", "backbone.pieces=300", "mlm.batch=16",
              "tilde.batch=16", "teacher.batch=4", "teacher.layers=1", "teacher.backbone="),
    ),
    CPU: Scale(
        CPU, layers=3, pretrain_steps=60,
        finetune_steps=120, rate=5e-4, tokens=4096, decides=False,
        settings=("finetune.validate_every=60", "finetune.validation_queries=500"),
    ),
    GPU: Scale(
        GPU, layers=0, pretrain_steps=300, finetune_steps=400,
        rate=3e-4, tokens=32768, decides=True,
        settings=("finetune.validate_every=200", "finetune.validation_queries=1000",
                  "finetune.validation_documents=4000"),
    ),
}  # fmt: skip


class Lengths(NamedTuple):
    """Subwords read of a query and of a document."""

    query: int
    document: int


def plan_of(study: Study, arm: Arm, scale: Scale) -> str:
    """A hash of what an arm is trained by, whatever the collection, the seed and the machine: trainings of different
    plans are never compared."""
    by = [scale._asdict(), SHARED, study.settings, study.swept, arm.settings]
    return hashlib.sha256(json.dumps(by).encode("utf-8")).hexdigest()[:16]


def scale_of(name: str) -> Scale:
    if name not in SCALES:
        raise SettingError(f"--scale {name!r} is not known; one of {', '.join(SCALES)}")
    return SCALES[name]


@lru_cache
def lengths_of(data: str) -> Lengths:
    """Enough for nine texts of ten of a collection, by their words, within what is affordable."""
    collection = open_source(data)
    return Lengths(
        _length((text for text in training_queries(collection)), LONGEST_QUERY),
        _length((document.contents for document in collection.documents()), LONGEST_DOCUMENT),
    )


def _length(texts: Iterable[str], most: int) -> int:
    words = [len(text.split()) for text, _ in zip(texts, range(LOOKED_AT), strict=False)]
    enough = math.ceil(np.quantile(words, READ) * SUBWORDS_A_WORD) + SPECIAL if words else 0
    return int(min(most, max(8, 4 * math.ceil(enough / 4))))


def shared_settings(scale: Scale, lengths: Lengths) -> list[str]:
    """What all arms have, before what the study and the arm say."""
    batch, steps = scale.batch(lengths), scale.finetune_steps
    return [
        *SHARED, f"model.layers={scale.layers}", f"model.query_length={lengths.query}",
        f"model.document_length={lengths.document}", f"pretrain.steps={scale.pretrain_steps}",
        f"pretrain.batch={batch}", f"pretrain.learning_rate={scale.rate}",
        f"pretrain.warmup={max(1, scale.pretrain_steps // 10)}",
        # None is due, but where a study is stopped one is kept.
        f"pretrain.checkpoint_every={scale.pretrain_steps}", f"finetune.checkpoint_every={steps}",
        f"finetune.steps={steps}", f"finetune.batch={batch}", f"finetune.learning_rate={scale.rate}",
        f"finetune.warmup={max(1, steps // 10)}", f"finetune.ramp={steps // 3}", "finetune.frozen_layers=0",
        "finetune.temperature=0.5", *scale.settings,
    ]  # fmt: skip
