"""How models that others made are opened with `transformers`: as data, and never as a program.

A model's folder can name Python code of its own (`auto_map`), which the library would run after a question on standard
input, and can keep its weights in a pickle, which runs what it likes when it is opened. Neither is done here, and no
option allows it. This is the one file of the package that opens anything with `from_pretrained` or `from_config`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import read_plain_file

NO_CODE = {"trust_remote_code": False}
CONFIGS = "*config*.json"  # where code can be named
SAFE = (".safetensors", ".safetensors.index.json")
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".bin.index.json")
ALIGNED = 64  # bytes
_PARTS_OF_WEIGHTS = ("pytorch_model", "model", "consolidated", "adapter_model", "weights", "checkpoint")


def open_config(hf: Any, source: str | Path) -> Any:
    """The configuration of the model at `source`, a folder or a hub name; `hf` is the library."""
    require_no_code(source)
    found = hf.AutoConfig.from_pretrained(source, **NO_CODE)
    _require_no_code_in(found.to_dict(), f"the configuration of {str(source)!r}")
    return found


def open_tokenizer(hf: Any, source: str | Path) -> Any:
    """Its tokenizer."""
    require_no_code(source)
    found = hf.AutoTokenizer.from_pretrained(source, **NO_CODE)
    _require_no_code_in(found.init_kwargs, f"the tokenizer of {str(source)!r}")
    return found


def open_weights(kind: Any, source: str | Path, **options: Any) -> Any:
    """The model at `source` as one of the library's classes, such as `AutoModel`; the rest is passed on to it."""
    require_no_code(source)
    require_safe_weights(source)
    try:
        return _aligned(kind.from_pretrained(source, use_safetensors=True, **NO_CODE, **options))
    except OSError as error:
        if "safetensors" not in str(error):
            raise
        raise InputError(
            f"{str(source)!r} has no model.safetensors that can be opened, and weights in another form (a pickle, such "
            f"as pytorch_model.bin) can run code and are never opened; {_REMEDY}"
        ) from error


def _aligned(opened: Any) -> Any:
    """A weight lies where it stands in its file, at any address; some processors then add the numbers of a product in
    another order. Moved to where torch puts its own, the same weights give the same bits as before they were saved."""
    model = opened[0] if isinstance(opened, tuple) else opened  # with what the library says about its loading
    for weight in model.parameters():
        if weight.data_ptr() % ALIGNED:
            weight.data = weight.data.clone()
    return opened


def model_of_config(kind: Any, config: Any, **options: Any) -> Any:
    """A model with weights still to be filled in."""
    _require_no_code_in(config.to_dict(), "the model's configuration")
    return kind.from_config(config, **NO_CODE, **options)


def require_no_code(source: str | Path) -> None:
    """Raise where a folder names Python code that is to be run to open it. Also of a family that the library knows: by
    its own code it is another model than the library would make of the same weights."""
    folder = Path(source)
    for file in sorted(folder.glob(CONFIGS)) if folder.is_dir() else ():
        try:
            said = json.loads(read_plain_file(file))
        except (OSError, ValueError, RecursionError):
            continue  # who opens it says what is wrong with it
        _require_no_code_in(said, str(file))


def require_safe_weights(source: str | Path) -> None:
    """Raise where all weights in a folder are pickled."""
    folder = Path(source)
    if not folder.is_dir():
        return
    names = sorted(file.name for file in folder.iterdir())
    if any(name.endswith(SAFE) for name in names):
        return
    pickled = [name for name in names if name.endswith(PICKLES) and name.startswith(_PARTS_OF_WEIGHTS)]
    pickled = pickled or [name for name in names if name.endswith(PICKLES) and "training_args" not in name]
    if pickled:
        raise InputError(
            f"{folder / pickled[0]} is a pickle, which can run code when it is opened, and is never opened; {_REMEDY}"
        )


_REMEDY = (
    "where you trust it, convert it to safetensors once: transformers.AutoModelForMaskedLM.from_pretrained(OLD)"
    ".save_pretrained(NEW), or the class that config.json names"
)


def _require_no_code_in(said: Any, where: str) -> None:
    for key, value in _entries(said):
        is_code = key == "auto_map" and value
        is_kernel = key in ("attn_implementation", "_attn_implementation") and isinstance(value, str) and "/" in value
        if is_code or is_kernel:
            raise InputError(
                f"{where} names code to be run when the model is opened ({key}); code of others is never run, and no "
                "option allows it: take a model of a family that transformers itself knows"
            )


def _entries(said: Any) -> Iterator[tuple[str, Any]]:
    """Keys and values at every depth."""
    waiting = [said]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one.items()
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
