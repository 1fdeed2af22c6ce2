"""A SPLADE model that both Lexigraft and sentence-transformers can load, made of the packaged all-MiniLM-L6-v2.

It ranks nothing: nobody trained it. Its network has the shape and the cost of a real one's, and one bias for all terms
is set so that documents keep as many terms as those of trained models do.
"""

from pathlib import Path
from typing import Any

import torch

from lexigraft.model.backbone import embedded_folder


def write_splade(folder: Path, sample: list[str], length: int, active_terms: int) -> None:
    """Write the model as a SparseEncoder of sentence-transformers that reads `length` subwords; the documents of
    `sample` have `active_terms` terms on average."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling
    from transformers import AutoTokenizer

    source, network = embedded_folder(), folder.with_name(f"{folder.name}.network")
    model, tokenizer = _with_head(source), AutoTokenizer.from_pretrained(source)
    bias = -_threshold(model, tokenizer, sample, length, active_terms)
    with torch.no_grad():
        model.cls.predictions.decoder.bias.fill_(bias)
    model.save_pretrained(network)
    tokenizer.save_pretrained(network)
    parts = [
        Transformer(str(network), transformer_task="fill-mask", max_seq_length=length),
        SpladePooling(pooling_strategy="max"),
    ]
    SparseEncoder(modules=parts, device="cpu").save_pretrained(str(folder))


def _with_head(source: Path) -> Any:
    """The backbone with its family's head: a transform that changes little, and a decoder tied to the embeddings."""
    from transformers import BertForMaskedLM

    torch.manual_seed(0)
    model = BertForMaskedLM.from_pretrained(source, dtype=torch.float32, tie_word_embeddings=True).eval()
    with torch.no_grad():
        dense = model.cls.predictions.transform.dense
        dense.weight.add_(torch.eye(len(dense.weight)))
    return model


@torch.inference_mode()
def _threshold(model: Any, tokenizer: Any, sample: list[str], length: int, active_terms: int) -> float:
    """The logit above which documents have `active_terms` terms on average."""
    largest = [
        model(**tokenizer(text, truncation=True, max_length=length, return_tensors="pt")).logits[0].amax(dim=0)
        for text in sample
    ]
    return float(torch.cat(largest).topk(active_terms * len(sample)).values[-1])
