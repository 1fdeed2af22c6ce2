"""A unigram vocabulary of any texts, as one artifact: for statistics, and for models to be trained on it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.config import settings_config
from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import Settings, VocabSettings
from lexigraft.core.word_rule import WordRule
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.learn import vocabulary as words
from lexigraft.learn.backbone_choice import SCRATCH, backbone_name
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.vectors.deciding_words import VOCAB, decide_words
from lexigraft.vocab import lexicon


class Learning(NamedTuple):
    """What a vocabulary is learned of, and how; `out` is where it will lie."""

    collection: Collection
    backbone: str
    settings: VocabSettings
    rule: WordRule
    out: Path


def learn_at_once(learning: Learning, folder: Path, progress: Progress) -> None:
    """Write the vocabulary into `folder`, in this process."""
    collection, backbone, settings, rule, _ = learning
    words.learn_vocabulary(collection, collection, backbone, settings, folder, rule)


Learn = Callable[[Learning, Path, Progress], None]


def make_unigrams(
    source: str,
    out: Path,
    settings: Settings,
    progress: Progress = SILENT,
    learn: Learn = learn_at_once,
) -> dict[str, Any]:
    """Learn the terms of `source` that `model.backbone` can spell, and write them at `out`, replacing a vocabulary
    there; returns what there is to say of them. `learn` does the work: at once, or by shards."""
    require_free_for(out, lexicon.KIND)
    backbone = backbone_name(settings.model.backbone)
    if backbone == SCRATCH and learn is not learn_at_once:
        raise SettingError(
            "a vocabulary is learned by shards for a backbone that is there already: name one (--set "
            "model.backbone=NAME), or leave --shards out"
        )
    with (
        judged_collection(source, settings.data, progress) as collection,
        tempfile.TemporaryDirectory(prefix="lexigraft-") as scratch,
    ):
        if backbone == SCRATCH:
            layers, seed = settings.model.layers, settings.run.seed
            words.make_backbone(collection, layers, seed, Path(scratch), settings.backbone)
        read = decide_words(settings, collection.documents(), [VOCAB])
        vocab, rule = read.vocab.decided(), read.words.rule
        config = {**settings_config(vocab), **rule.entry, "backbone": backbone}
        manifest = Manifest(lexicon.KIND, lexicon.FORMAT_VERSION, config, {"corpus": collection.digest(CORPUS)})
        tokenizer = scratch if backbone == SCRATCH else backbone
        with write_artifact(out, manifest) as folder:
            learn(Learning(collection, tokenizer, vocab, rule, out.resolve()), folder, progress)
    facts: dict[str, Any] = read_sealed(out / "vocabulary.json")
    return facts
