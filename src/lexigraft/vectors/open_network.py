"""Opens a trained model in the form that fits: its graph on a CPU, which needs no torch; torch on a GPU, or where there
is no graph and none can be made."""

import importlib.util
import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from lexigraft.core.artifact import open_artifact
from lexigraft.core.errors import MissingExtraError, MixedVersionsError
from lexigraft.core.installing import install_extra
from lexigraft.core.lock import working_folder
from lexigraft.core.pinned import of_one_version, read_pinned
from lexigraft.core.types import Vocabulary
from lexigraft.inference.folder import FORMAT_VERSION, KIND, has_form
from lexigraft.inference.meta import MODEL_FORMAT, MODEL_KIND, read_meta, require_finetuned
from lexigraft.inference.network import Network
from lexigraft.vectors.same_model import require_same_model

log = logging.getLogger(__name__)
_making = Lock()

T = TypeVar("T")

USUAL_BITS = 8
WEIGHTS = "model.safetensors"  # of a model of torch
ATTEMPTS = 10  # to open a model and its form while both are replaced
GPU_DEVICES = ("/dev/nvidiactl", "/dev/kfd")  # what a machine with a GPU that torch may use has
RUNS_GRAPHS, WRITES_GRAPHS = ("onnxruntime", "tokenizers"), ("torch", "transformers", "onnx", "onnxscript")


def open_network(
    model: Path,
    bits: int = USUAL_BITS,
    vocabulary: Vocabulary | None = None,
    on_gpu: bool = False,
    threads: int | None = None,
    fingerprint: str = "",
) -> Network:
    """The model at `model`; its inference form is made where there is none yet. `bits` are those of its matrices on a
    CPU. `vocabulary`: its own, where that is open already. `on_gpu`: on a GPU where there is one, for many texts.
    `fingerprint`: of the very model that is wanted; another one raises."""
    _require_writes_vectors(model)
    if on_gpu and may_have_gpu() and (model / WEIGHTS).is_file():  # a model that was brought in as a graph has none
        from lexigraft.model.backbone import default_device

        if default_device().type != "cpu":
            return _in_torch(model, fingerprint)

    def by_graph() -> Network:
        from lexigraft.inference.graph_network import open_graph

        return read_pinned(model, lambda folder: open_graph(_same(folder, fingerprint), bits, vocabulary, threads))

    return with_form(model, OF_TERMS, by_graph, lambda: _in_torch(model, fingerprint))


@of_one_version
def _require_writes_vectors(model: Path) -> None:
    open_artifact(model, MODEL_KIND, MODEL_FORMAT)
    require_finetuned(read_meta(model))


def _same(model: Path, fingerprint: str) -> Path:
    """`model`, where it is the one that is wanted, if a certain one is."""
    if fingerprint:
        require_same_model(model, fingerprint)
    return model


def with_form(model: Path, form: "Form", by_graph: Callable[[], T], by_torch: Callable[[], T]) -> T:
    """The model at `model` opened by its inference form, or by torch where there is none and none can be made. A form
    of another model than the one that is there, because a writer replaced one of them meanwhile, is made anew."""
    for _ in range(ATTEMPTS):
        if reason := ensure_form(model, form=form):
            require_torch(model, reason)
            return by_torch()
        try:
            return by_graph()
        except MixedVersionsError as error:
            mixed = error
    raise mixed


def may_have_gpu() -> bool:
    """Whether it is worth asking torch for a GPU: that takes seconds."""
    return any(Path(device).exists() for device in GPU_DEVICES)


class Form(NamedTuple):
    """A kind of inference form, with its format, and what makes one of the model at a path, open already or not."""

    kind: tuple[str, int]
    make: Callable[[Path, Any], object]


def _make_sparse(model: Path, opened: Any) -> None:
    from lexigraft.model.inference_form import make_form

    make_form(model, opened)


OF_TERMS = Form((KIND, FORMAT_VERSION), _make_sparse)


def ensure_form(model: Path, opened: Callable[[], Any] | None = None, form: Form = OF_TERMS) -> str:
    """Make the inference form of the model at `model` where it has none; returns why there is none, empty where there
    is. `opened` gives the model where it is open already."""
    if missing := _missing(RUNS_GRAPHS):
        return f"{missing} is not installed: {install_extra('search')}"
    if has_form(model, form.kind):
        return ""
    if missing := _missing(WRITES_GRAPHS):
        return f"it has no inference form, and {missing}, which makes one, is not installed: {install_extra('train')}"
    try:
        _make_once(model, opened, form)
    except Exception as error:  # noqa: BLE001  # graphs fail in as many ways as there are models; torch still encodes
        said = str(error).strip() or type(error).__name__
        return f"its inference form cannot be made: {said.splitlines()[0]}"
    return ""


def _make_once(model: Path, opened: Callable[[], Any] | None, form: Form) -> None:
    """Make the form by one thread of one process; others wait for it."""
    with _making, working_folder(model.with_name(f".{model.name}.making"), wait=True):
        if not has_form(model, form.kind):
            log.info("preparing the model at %s for encoding without torch, once", model)
            form.make(model, None if opened is None else opened())


def writes_graphs() -> bool:
    """Whether all is installed that inference forms are made and run by."""
    return not _missing(RUNS_GRAPHS + WRITES_GRAPHS)


def _missing(packages: tuple[str, ...]) -> str:
    """The first package that is not installed; empty where all are."""
    return next((name for name in packages if importlib.util.find_spec(name) is None), "")


def require_torch(model: Path, reason: str) -> None:
    """Say that a model is run by torch, and why; raise where there is none."""
    if missing := _missing(("torch", "transformers")):
        raise MissingExtraError(f"the model at {model}", missing, f"{install_extra('train')}; {reason}")
    log.warning("the model at %s is run by torch, which takes seconds to start: %s", model, reason)


def _in_torch(model: Path, fingerprint: str) -> Network:
    from lexigraft.model.backbone import default_device
    from lexigraft.model.encoder import open_encoder
    from lexigraft.model.torch_network import TorchNetwork

    opened = read_pinned(model, lambda folder: open_encoder(_same(folder, fingerprint)))
    return TorchNetwork(opened.to(default_device()))
