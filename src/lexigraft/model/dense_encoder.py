"""The dense encoder: a backbone whose last hidden states are averaged over a text's tokens, special ones included, and
brought to unit length. Saved as one folder that needs nothing else to be opened again.

model.safetensors    all weights
backbone/            the backbone's configuration and tokenizer, as `transformers` writes them
dense.json           where it came from, the width of its vectors, and how much of a text it reads
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lexigraft.core.array_types import Float32s, Int64s
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.pinned import of_one_version
from lexigraft.core.pretrained import model_of_config, open_config, open_tokenizer
from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND, FACTS, DenseMeta, read_dense_meta
from lexigraft.inference.raw_texts import RawTextReader
from lexigraft.model.backbone import Backbone, transformers_library
from lexigraft.model.damaged_folders import naming_what_is_damaged
from lexigraft.model.families import n_positions, without_pooler
from lexigraft.model.inputs import inputs_of
from lexigraft.model.precision import fast_precision
from lexigraft.vocab.subwords import from_transformers

CPU_BATCH, GPU_BATCH = 64, 1024  # texts at once


class DenseEncoder(nn.Module):
    """Token ids to vectors [batch, width] of unit length. Takes what `train.ranking.buckets` hands to any encoder;
    which tokens are words, and which words those are, means nothing to it."""

    def __init__(self, meta: DenseMeta, model: Any, hf_tokenizer: Any) -> None:
        super().__init__()
        self.meta, self.model, self.hf_tokenizer = meta, model, hf_tokenizer
        self.subwords = from_transformers(hf_tokenizer, meta.backbone)
        most, longest = n_positions(model), max(meta.query_length, meta.document_length)
        if most is not None and longest > most:
            raise SettingError(
                f"dense.query_length, dense.document_length: {meta.backbone!r} reads at most {most} subwords, not "
                f"{longest}; read less of a text"
            )

    @classmethod
    def of(cls, backbone: Backbone, query_length: int, document_length: int) -> Self:
        """A backbone as a dense encoder, untrained: the bare encoder, whichever head stands on it."""
        model: Any = backbone.body.model
        bare = model.base_model
        meta = DenseMeta(backbone.name, int(bare.config.hidden_size), query_length, document_length)
        return cls(meta, bare, backbone.hf_tokenizer)

    @property
    def pad_id(self) -> int:
        return self.subwords.special.pad

    def reader(self) -> RawTextReader:
        return RawTextReader(self.hf_tokenizer.backend_tokenizer)

    def forward(self, subwords: Tensor, mask: Tensor, *of_terms: Any) -> Tensor:
        hidden: Tensor = self.model(input_ids=subwords, attention_mask=mask).last_hidden_state
        with torch.autocast(hidden.device.type, enabled=False):  # means and cosines in float32, as they are searched
            return unit_means(hidden.float(), mask)


def unit_means(hidden: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens of each text that are not padding, divided by its length; `hidden` [texts, tokens,
    width]."""
    weight = mask[..., None].to(hidden.dtype)
    return nn.functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)


class TorchDense:
    """A dense encoder on the device where it is; `exact`: in its full precision on every machine."""

    def __init__(self, encoder: DenseEncoder, exact: bool = False) -> None:
        self._encoder, self._exact, self._reader, self.meta = encoder, exact, encoder.reader(), encoder.meta

    def reading(self, document_length: int) -> "TorchDense":
        other = copy(self)
        other.meta = replace(self.meta, document_length=document_length)
        return other

    def embed_parts(self, texts: Sequence[str], are_queries: bool) -> Iterator[tuple[Int64s, Float32s]]:
        device = next(self._encoder.parameters()).device
        read = self._reader.read(texts, self.meta.query_length if are_queries else self.meta.document_length)
        order = np.argsort(-np.diff(read.aligned.indptr), kind="stable")
        at_once = CPU_BATCH if device.type == "cpu" else GPU_BATCH
        for start in range(0, len(order), at_once):
            places = order[start : start + at_once]
            with torch.inference_mode(), fast_precision(device, enabled=not self._exact):
                vectors = self._encoder(*inputs_of(read, places, self._encoder.pad_id, device))
            yield places, vectors.float().cpu().numpy()


def save_dense(encoder: DenseEncoder, folder: Path) -> None:
    """Write the files of a dense encoder into `folder`."""
    state = {key: value.detach().cpu().contiguous() for key, value in encoder.model.state_dict().items()}
    try:
        save_file(state, folder / "model.safetensors")
    except SafetensorError as error:
        raise ArtifactError(f"the encoder in {folder} could not be written: {error}; is the disk full?") from error
    (folder / "backbone").mkdir(exist_ok=True)
    encoder.model.config.save_pretrained(folder / "backbone")
    encoder.hf_tokenizer.backend_tokenizer.no_truncation()  # which reading left there
    encoder.hf_tokenizer.save_pretrained(folder / "backbone")
    write_json(folder / FACTS, asdict(encoder.meta))


@of_one_version
@naming_what_is_damaged
def open_dense_encoder(path: Path) -> DenseEncoder:
    """Open the artifact of a dense encoder, ready to embed (in evaluation mode)."""
    open_artifact(path, DENSE_KIND, DENSE_FORMAT)
    hf, folder = transformers_library(), path / "backbone"
    config = open_config(hf, folder)
    model = model_of_config(hf.AutoModel, config, **without_pooler(config))
    encoder = DenseEncoder(read_dense_meta(path), model, open_tokenizer(hf, folder))
    encoder.model.load_state_dict(load_file(path / "model.safetensors"))
    return encoder.eval()
