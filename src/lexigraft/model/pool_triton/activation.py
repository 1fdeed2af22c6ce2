"""log(1 + ReLU(x)), once or twice, inside kernels."""

import triton
import triton.language as tl


@triton.jit
def _log1p(x):
    """Exact where x is small, too: the rounding of 1 + x is divided out again."""
    y = 1 + x
    return tl.where(y == 1, x, tl.log(y) * (x / tl.where(y == 1, 1.0, y - 1)))


@triton.jit
def activated(x, TWICE: tl.constexpr):
    x = tl.where(x > 0, x, tl.where(x != x, x, 0.0))  # not a number stays so
    x = _log1p(x)
    if TWICE:
        x = _log1p(x)
    return x
