"""Incomplete gamma and beta functions of arrays: the tails of Poisson and binomial laws.

P(a, x) = integral of t^(a-1) e^-t from 0 to x over Gamma(a): by its series up to x = a + 1, by
Lentz's continued fraction above. I_x(a, b) likewise by the continued fraction on the side where it
converges. Steps grow with the square root of the larger argument; arguments that have settled are
left out. Relative errors are some 1e-13; P(a, x) is approximate for a above 1e8. DLMF 8.7.1, 8.9.2,
8.17.22.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["incomplete_beta", "log_gamma", "lower_gamma"]

Floats = NDArray[np.float64]

_ENOUGH = 2.0**-54
_MOST_STEPS = 100_000
# The series would take more steps; the approximation is good to some 1e-9 from here on.
_LARGE = 1e8
_TINY = 1e-300
_SHIFT = 12
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_gamma(x: ArrayLike) -> Floats:
    """Return the logarithm of the gamma function, for arguments above 0.

    Examples
    --------
    >>> log_gamma([1.0, 5.0]).round(12)
    array([0.        , 3.17805383])
    """
    given = np.atleast_1d(np.asarray(x, dtype=np.float64))
    small = given < _SHIFT
    product = np.ones(given.shape)
    for step in range(_SHIFT):
        product[small] *= given[small] + step
    y = given + _SHIFT * small
    leading = (y - 0.5) * np.log(y) - y + 0.5 * np.log(2 * np.pi)
    value = leading + _beyond_stirling(y) - np.log(product)
    # Near 1 and 2 the terms cancel; these two are met often and are exact.
    value[(given == 1) | (given == 2)] = 0.0
    return value.reshape(np.shape(x))


def lower_gamma(a: ArrayLike, x: ArrayLike) -> Floats:
    """Return P(a, x), the lower regularised incomplete gamma function, for a > 0 and x >= 0.

    The chance that a Poisson count with mean x is at least a, for whole numbers a.

    Examples
    --------
    >>> lower_gamma([1, 1], [0.0, 1.0]).round(12)
    array([0.        , 0.63212056])
    """
    shape, at = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (a, x)))
    shape, at = shape.ravel(), at.ravel()
    found = np.zeros(shape.shape)
    large = shape > _LARGE
    found[large] = _of_large(shape[large], at[large])
    low = ~large & (at > 0) & (at <= shape + 1)
    high = ~large & (at > shape + 1)
    found[low] = _front(shape[low], at[low]) * _series(shape[low], at[low]) / shape[low]
    found[high] = 1 - _front(shape[high], at[high]) * _fraction(shape[high], at[high])
    return np.clip(found, 0, 1).reshape(np.broadcast_shapes(np.shape(a), np.shape(x)))


def incomplete_beta(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Floats:
    """Return I_x(a, b), the regularised incomplete beta function, for a, b > 0 and x in [0, 1].

    Examples
    --------
    >>> incomplete_beta([1, 2], [3, 1], [0.5, 0.5]).round(12)
    array([0.875, 0.25 ])
    """
    first, second, at = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (a, b, x)))
    shape = first.shape
    first, second, at = first.ravel(), second.ravel(), at.ravel()
    found = np.where(at >= 1, 1.0, 0.0)
    inside = (at > 0) & (at < 1)
    p, q, u = first[inside], second[inside], at[inside]
    swap = u > (p + 1) / (p + q + 2)
    p, q, u = np.where(swap, q, p), np.where(swap, p, q), np.where(swap, 1 - u, u)
    front = log_gamma(p + q) - log_gamma(p) - log_gamma(q) + p * np.log(u) + q * np.log1p(-u)
    value = np.exp(front) * _beta_fraction(p, q, u) / p
    found[inside] = np.where(swap, 1 - value, value)
    return np.clip(found, 0, 1).reshape(shape)


def _front(a: Floats, x: Floats) -> Floats:
    """Return x^a e^-x / Gamma(a), without the loss of digits where both are large."""
    exponent = np.empty(a.shape)
    small = a < _SHIFT
    exponent[small] = a[small] * np.log(x[small]) - x[small] - log_gamma(a[small])
    large, at = a[~small], x[~small]
    # a log x - x - log Gamma(a), with Stirling's formula put in and its large terms cancelled.
    leading = large * np.log(at / large) - (at - large)
    exponent[~small] = leading + 0.5 * np.log(large / (2 * np.pi)) - _beyond_stirling(large)
    return np.exp(exponent)


def _beyond_stirling(y: Floats) -> Floats:
    """Return what Stirling's formula leaves out of log Gamma(y), for large y."""
    inverse = 1 / y
    tail = np.zeros(y.shape)
    for coefficient in reversed(_STIRLING):
        tail = tail * inverse * inverse + coefficient
    return tail * inverse


def _of_large(a: Floats, x: Floats) -> Floats:
    """Return P(a, x) by the cube root of Wilson and Hilferty."""
    deviate = 3 * np.sqrt(a) * (np.cbrt(x / a) - 1 + 1 / (9 * a))
    return np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in deviate.tolist()])


def _series(a: Floats, x: Floats) -> Floats:
    term, total = np.ones(a.shape), np.ones(a.shape)
    active = np.arange(len(a))
    for step in range(1, _MOST_STEPS):
        term = term * x[active] / (a[active] + step)
        total[active] += term
        still = term > _ENOUGH * total[active]
        active, term = active[still], term[still]
        if not len(active):
            break
    return total


def _fraction(a: Floats, x: Floats) -> Floats:
    b = x + 1 - a
    c, d = np.full(a.shape, 1 / _TINY), 1 / b
    found = d.copy()
    active = np.arange(len(a))
    for step in range(1, _MOST_STEPS):
        numerator = -step * (step - a[active])
        b = b + 2
        d = 1 / _nonzero(numerator * d + b)
        c = _nonzero(b + numerator / c)
        found[active] *= d * c
        still = np.abs(d * c - 1) > _ENOUGH
        active, b, c, d = active[still], b[still], c[still], d[still]
        if not len(active):
            break
    return found


def _beta_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    c = np.ones(a.shape)
    d = 1 / _nonzero(1 - (a + b) * x / (a + 1))
    found = d.copy()
    active = np.arange(len(a))
    for step in range(1, _MOST_STEPS):
        p, q, u = a[active], b[active], x[active]
        turn = np.ones(len(active))
        for numerator in (
            step * (q - step) * u / ((p + 2 * step - 1) * (p + 2 * step)),
            -(p + step) * (p + q + step) * u / ((p + 2 * step) * (p + 2 * step + 1)),
        ):
            d = 1 / _nonzero(1 + numerator * d)
            c = _nonzero(1 + numerator / c)
            turn = turn * d * c
        found[active] *= turn
        still = np.abs(turn - 1) > _ENOUGH
        active, c, d = active[still], c[still], d[still]
        if not len(active):
            break
    return found


def _nonzero(values: Floats) -> Floats:
    return np.where(np.abs(values) < _TINY, _TINY, values)
