"""Student's t distribution, as much of it as a paired test needs: no part of the package depends on scipy for it."""

import math

SMALLEST = 1e-300  # stands in for a 0 that would be divided by
ENOUGH = 1e-16  # a factor this close to 1 changes nothing
MOST_STEPS = 10_000  # some tens are needed; with millions of degrees of freedom some hundreds


def two_sided_p(t: float, degrees: int) -> float:
    """The probability of a t at least as far from 0, with `degrees` >= 1 degrees of freedom: the regularised incomplete
    beta function of degrees / (degrees + t^2) at (degrees / 2, 1 / 2)."""
    if math.isinf(t):
        return 0.0
    square = t * t
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square))


def critical_t(p: float, degrees: int) -> float:
    """The t whose `two_sided_p` is `p`, 0 < p < 1, by bisection."""
    low, high = 0.0, 1.0
    while two_sided_p(high, degrees) > p:
        low, high = high, high * 2
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided_p(middle, degrees) > p else (low, middle)
    return high


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """I_x(a, b); `rest` is 1 - x, given apart because it may be far smaller than x's rounding."""
    if x <= 0:
        return 0.0
    if rest <= 0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    front = math.exp(log_front)
    # The fraction converges fast on this side of the mean only; the other side is its mirror image.
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, rest) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Of the incomplete beta function, from its beginning (Lentz's method)."""
    numerator, denominator = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = denominator
    for m in range(1, MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        factor = 1.0
        for coefficient in (even, odd):
            denominator = 1 / _not_zero(1 + coefficient * denominator)
            numerator = _not_zero(1 + coefficient / numerator)
            factor = denominator * numerator
            value *= factor
        if abs(factor - 1) < ENOUGH:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > SMALLEST else SMALLEST
