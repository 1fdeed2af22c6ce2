"""What keeps vectors sparse and postings short (F2)."""

from torch import Tensor


def flops(vectors: Tensor) -> Tensor:
    """Sum over terms of the squared mean weight in the batch (Paria et al., 2020; vocabulary study, equation 2)."""
    return vectors.mean(0).square().sum()


def joint_flops(queries: Tensor, documents: Tensor) -> Tensor:
    """Mean query vector times mean document vector: what a random pair is expected to cost (equation 3)."""
    return queries.mean(0) @ documents.mean(0)


def quadratic_ramp(step: int, n_steps: int) -> float:
    """From 0 to 1, quadratically, over `n_steps`; 1 from then on, and always where n_steps is 0."""
    return 1.0 if step >= n_steps else (step / n_steps) ** 2
