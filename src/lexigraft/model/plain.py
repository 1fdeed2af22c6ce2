"""The plain head (H2): a backbone's own masked-language-model head over its own subwords."""

from lexigraft.model.backbone import Backbone
from lexigraft.model.head import SparseHead


def plain_head(backbone: Backbone) -> SparseHead:
    """The head as the backbone brought it, or tied to its word embeddings where it brought none. A tied head is the
    very parameter that its word embeddings are; an untied one is its own."""
    head = SparseHead(backbone.subword_weight, backbone.subword_bias)
    if backbone.tied:
        head.tie(backbone.word_embeddings)
    return head
