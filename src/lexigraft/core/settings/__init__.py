"""The settings of every stage: one frozen dataclass a section, in a file of its own, checked when made.

A setting is said once, where its section declares it (`section` explains how); `lexigraft.core.config` reads settings
from files, `reference` writes docs/settings.md.
"""

from lexigraft.core.settings.backbone import BackboneSettings
from lexigraft.core.settings.data import DataSettings
from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.dense import DenseSettings
from lexigraft.core.settings.evaluate import EvaluateSettings
from lexigraft.core.settings.every import FORMER_NAME, Settings, section_names
from lexigraft.core.settings.finetune import FinetuneSettings
from lexigraft.core.settings.grafted import GraftedSettings
from lexigraft.core.settings.hybrid import HybridSettings
from lexigraft.core.settings.index import IndexSettings
from lexigraft.core.settings.lexical import LexicalSettings
from lexigraft.core.settings.mlm import MlmSettings
from lexigraft.core.settings.model import ModelSettings
from lexigraft.core.settings.pretrain import PretrainSettings
from lexigraft.core.settings.prune import PruneSettings
from lexigraft.core.settings.run import BLEND, GRAFTED, LEXICAL, PEERS, RunSettings
from lexigraft.core.settings.search import SEARCH_METHODS, SearchSettings
from lexigraft.core.settings.teacher import TeacherSettings
from lexigraft.core.settings.tilde import TildeSettings
from lexigraft.core.settings.vocab import VocabSettings
from lexigraft.core.settings.words import WordsSettings

__all__ = [
    "AUTO",
    "BLEND",
    "FORMER_NAME",
    "GRAFTED",
    "LEXICAL",
    "PEERS",
    "SEARCH_METHODS",
    "BackboneSettings",
    "DataSettings",
    "DenseSettings",
    "EvaluateSettings",
    "FinetuneSettings",
    "GraftedSettings",
    "HybridSettings",
    "IndexSettings",
    "LexicalSettings",
    "MlmSettings",
    "ModelSettings",
    "PretrainSettings",
    "PruneSettings",
    "RunSettings",
    "SearchSettings",
    "Settings",
    "TeacherSettings",
    "TildeSettings",
    "VocabSettings",
    "WordsSettings",
    "section_names",
]
