"""Kernels for a GPU, in Triton: MAX pooling over a large vocabulary, and what follows it."""

from lexigraft.model.pool_triton.pool import list_weights, max_over_tokens
from lexigraft.model.pool_triton.weights import term_weights

__all__ = ["list_weights", "max_over_tokens", "term_weights"]
