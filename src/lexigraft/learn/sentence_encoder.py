"""The sentence encoder of this machine, as it comes: made once for all collections, in the user's cache folder.

A grafted system needs it for documents alone, never for a query, so no run and no index holds it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from lexigraft.core.artifact import Manifest, canonical_json
from lexigraft.core.folders import cache_folder, make_folders
from lexigraft.core.installing import INSTALL_EMBEDDED, install_extra
from lexigraft.core.lock import writer_lock
from lexigraft.dense.opening import ensure_dense_form
from lexigraft.learn.backbone_choice import SCRATCH, backbone_name
from lexigraft.learn.model_training import missing_packages
from lexigraft.stages.ensure import keep_or_make

LENGTHS = 64, 256  # subwords of a query and of a document that it can read, where its own files say nothing


def why_no_encoder(backbone: str) -> str:
    """Why there is no sentence encoder of that name ("auto": the packaged one) here; empty where there is one."""
    if missing := missing_packages():
        return f"{', '.join(missing)} not installed ({install_extra('train')})"
    name = backbone_name(backbone)
    if name == SCRATCH:
        return f"there is no sentence encoder ({INSTALL_EMBEDDED})"
    from lexigraft.model.sentence_encoder import why_no_sentence_encoder

    reason = why_no_sentence_encoder(name)
    return f"{name} is no sentence encoder: {reason}" if reason else ""


@contextmanager
def sentence_encoder(backbone: str) -> Iterator[tuple[Path, Manifest]]:
    """The folder of the encoder, with its inference form beside it, and its manifest. Where nothing can be cached, it
    is made for this block alone."""
    from lexigraft.learn.taken_encoder import encoder_as_it_comes

    wanted, make = encoder_as_it_comes(backbone, LENGTHS)
    name = sha256(canonical_json(dict(wanted.config)).encode()).hexdigest()[:16]
    with TemporaryDirectory(prefix="lexigraft-") as scratch:
        home = _kept() or Path(scratch)
        with writer_lock(home, wait=True):
            path = home / name
            made = keep_or_make(path, wanted, make).manifest
            ensure_dense_form(path)
        yield path, made


def _kept() -> Path | None:
    """The folder of encoders; None where nothing can be kept."""
    folder = cache_folder("encoders")
    if folder is None:
        return None
    with suppress(OSError):
        make_folders(folder)
    return folder if os.access(folder, os.W_OK) else None
