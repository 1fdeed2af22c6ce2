"""A sentence encoder as it comes, without any training, as an artifact."""

import logging
from collections.abc import Callable
from pathlib import Path

from lexigraft.core.artifact import Manifest
from lexigraft.core.errors import SettingError
from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND
from lexigraft.learn.backbone_choice import SCRATCH, backbone_name, file_hashes
from lexigraft.model.backbone import load_backbone
from lexigraft.model.dense_encoder import DenseEncoder, save_dense
from lexigraft.model.sentence_encoder import own_length, why_no_sentence_encoder

log = logging.getLogger(__name__)


def encoder_as_it_comes(
    backbone: str, usual: tuple[int, int], query_length: int = 0, document_length: int = 0
) -> tuple[Manifest, Callable[[Path], None]]:
    """The artifact that is wanted, and what writes it into a folder: all layers of the backbone. It reads as many
    subwords of a query and of a document as is said, or else as its own files say, or as `usual`; of a document never
    fewer than those files say, because whoever reads less of one cuts it then."""
    name = backbone_name(backbone)
    if name == SCRATCH:
        raise SettingError(
            "an encoder is taken as it comes, without training, and this backbone is made from scratch "
            f"(model.backbone = {backbone!r}); name a sentence encoder, or let it train (dense.trains = on)"
        )
    if reason := why_no_sentence_encoder(name):
        log.warning("%s is taken as a sentence encoder as it comes, though %s", name, reason)
    own = own_length(name)
    lengths = query_length or own or usual[0], max(own, document_length) or usual[1]
    config = {
        "backbone": name, **file_hashes(Path(name)), "query_length": lengths[0], "document_length": lengths[1],
        "trains": False,
    }  # fmt: skip

    def make(folder: Path) -> None:
        save_dense(DenseEncoder.of(load_backbone(name), *lengths), folder)

    return Manifest(DENSE_KIND, DENSE_FORMAT, config, {}), make
