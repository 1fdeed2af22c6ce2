"""Opens a dense encoder in the form that fits: its graph on a CPU, which needs no torch; torch on a GPU, or where there
is no graph and none can be made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import open_artifact
from lexigraft.core.pinned import read_pinned
from lexigraft.inference.dense_graph import open_dense_graph
from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND, FORM_FORMAT, FORM_KIND, DenseNetwork
from lexigraft.vectors.open_network import USUAL_BITS, Form, ensure_form, may_have_gpu, with_form
from lexigraft.vectors.same_model import require_same_model


def open_dense(
    encoder: Path,
    bits: int = USUAL_BITS,
    on_gpu: bool = False,
    threads: int | None = None,
    fingerprint: str = "",
) -> DenseNetwork:
    """The dense encoder at `encoder`; its inference form is made where there is none yet. `bits` are those of its
    matrices on a CPU. `on_gpu`: on a GPU where there is one, for many texts. `fingerprint`: of the very encoder that is
    wanted; another one raises."""
    open_artifact(encoder, DENSE_KIND, DENSE_FORMAT)
    if on_gpu and may_have_gpu():
        from lexigraft.model.backbone import default_device

        if default_device().type != "cpu":
            return _by_torch(encoder, fingerprint)

    def by_graph() -> DenseNetwork:
        return read_pinned(encoder, lambda folder: open_dense_graph(_same(folder, fingerprint), bits, threads))

    return with_form(encoder, DENSE_FORM, by_graph, lambda: _by_torch(encoder, fingerprint))


def _same(encoder: Path, fingerprint: str) -> Path:
    """`encoder`, where it is the one that is wanted, if a certain one is."""
    if fingerprint:
        require_same_model(encoder, fingerprint)
    return encoder


def ensure_dense_form(encoder: Path, opened: Callable[[], Any] | None = None) -> str:
    """Make the inference form of the dense encoder at `encoder` where it has none; returns why there is none."""
    return ensure_form(encoder, opened, DENSE_FORM)


def _make(encoder: Path, opened: Any) -> None:
    from lexigraft.model.dense_form import make_dense_form

    make_dense_form(encoder, opened)


DENSE_FORM = Form((FORM_KIND, FORM_FORMAT), _make)


def _by_torch(encoder: Path, fingerprint: str) -> DenseNetwork:
    from lexigraft.model.backbone import default_device
    from lexigraft.model.dense_encoder import TorchDense, open_dense_encoder

    opened = read_pinned(encoder, lambda folder: open_dense_encoder(_same(folder, fingerprint)))
    return TorchDense(opened.to(default_device()))
