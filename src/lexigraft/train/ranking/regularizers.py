"""What keeps vectors sparse and postings short (F2)."""

import math

from torch import Tensor


def flops(vectors: Tensor) -> Tensor:
    """Sum over terms of the squared mean weight in the batch (Paria et al., 2020; vocabulary study, equation 2)."""
    return vectors.mean(0).square().sum()


def joint_flops(queries: Tensor, documents: Tensor) -> Tensor:
    """Mean query vector times mean document vector: what a random pair is expected to cost (equation 3)."""
    return queries.mean(0) @ documents.mean(0)


def l1(vectors: Tensor) -> Tensor:
    """Mean over texts of the sum of their weights, which are never negative (wackiness study, section 3.1)."""
    return vectors.sum(1).mean()


def df_flops(vectors: Tensor, term_weights: Tensor) -> Tensor:
    """FLOPS with a weight for each term: sum of w_t times the squared mean weight (arXiv 2505.15070)."""
    return (term_weights * vectors.mean(0).square()).sum()


def df_weights(shares: Tensor, alpha: float, beta: float) -> Tensor:
    """w(x) = 1 / (1 + (x^(log_alpha 2) - 1)^beta) of the share of documents that have a term: 0 at x = 0, one half at
    x = alpha, 1 at x = 1; `beta` says how sharply it rises between."""
    exponent = math.log(2) / math.log(alpha)  # negative, because alpha is less than 1
    return 1 / (1 + (shares.pow(exponent) - 1).clamp_min(0).pow(beta))


def quadratic_ramp(step: int, n_steps: int) -> float:
    """From 0 to 1, quadratically, over `n_steps`; 1 from then on, and always where n_steps is 0."""
    return 1.0 if step >= n_steps else (step / n_steps) ** 2
