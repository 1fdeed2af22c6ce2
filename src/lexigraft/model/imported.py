"""A SPLADE model made elsewhere as one of ours (H5): its own head over its own subwords, all tokens pooled."""

from dataclasses import replace

from lexigraft.core.errors import InputError, SettingError
from lexigraft.inference.meta import PLAIN
from lexigraft.model.backbone import Backbone, load_backbone
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.foreign import ForeignModel, read_foreign
from lexigraft.model.plain import plain_head

UNLIMITED = 8192  # what is read where neither model nor tokenizer names an end


def import_encoder(source: str, query_length: int = 0, document_length: int = 0) -> SparseEncoder:
    """The model at `source`, a folder or hub name in sentence-transformers' layout or a masked language model, ready to
    encode: its vectors are those that sentence-transformers gives, but for rounding.

    Texts are cut to so many subwords, special ones included; 0: to as many as the model says.
    """
    foreign = read_foreign(source)
    backbone = load_backbone(foreign.backbone, called=source)
    if not backbone.body.has_mlm_head:
        made_as = ", ".join(getattr(backbone.body.model.config, "architectures", None) or ["nothing known"])
        raise InputError(
            f"{source!r} is no masked language model ({made_as}), so it has no weights for terms; give it a head and "
            "train it as a backbone: lexigraft model mlm, then --set model.backbone=DIR"
        )
    if foreign.lower_case and not _lowers(backbone):
        raise InputError(f"{source!r} lower-cases texts before its tokenizer sees them; this cannot be imported yet")
    longest = _longest(foreign, backbone)
    lengths = query_length or longest, document_length or longest
    for name, length in zip(("--query-length", "--document-length"), lengths, strict=True):
        if not 3 <= length <= longest:
            raise SettingError(f"{name} = {length} is not allowed: {source!r} reads 3 to {longest} subwords")
    encoder = SparseEncoder(backbone, plain_head(backbone), backbone.subwords(), PLAIN)
    encoder.meta = replace(
        encoder.meta, query_length=lengths[0], document_length=lengths[1],
        query_terms=foreign.keep, document_terms=foreign.keep,
        pooling=foreign.pooling, pooled="all", activation=foreign.activation,
        query_prompt=foreign.query_prompt, document_prompt=foreign.document_prompt,
    )  # fmt: skip
    return encoder.eval()


def _longest(foreign: ForeignModel, backbone: Backbone) -> int:
    """As many subwords as the model says it reads, else its tokenizer; never more than it has positions for."""
    said = foreign.length or int(backbone.hf_tokenizer.model_max_length)
    return min(said, backbone.longest_text or UNLIMITED)


def _lowers(backbone: Backbone) -> bool:
    normalizer = backbone.hf_tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and normalizer.normalize_str("A") == "a"
