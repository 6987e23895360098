#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Derives the constants of include/vlearn/core/exp-inl.h (needs mpmath).

exp(r) = 1 + r + r^2 P(r) on |r| <= ln(2)/2, P of degree 9. P is the least-squares
fit on Chebyshev nodes of the error of the whole sum, r^2 (P* - P), which is within
a small factor of the minimax error.
"""

from mpmath import cos, exp, factorial, floor, log, lu_solve, matrix, mp, mpf, pi

mp.dps = 60
DEGREE = 9
BOUND = log(2) / 2 * mpf("1.0001")
NODES = 200


def target(r):
    return (exp(r) - 1 - r) / r**2


def fit():
    nodes = [BOUND * cos(pi * (2 * i + 1) / (2 * NODES)) for i in range(NODES)]
    a = matrix(NODES, DEGREE + 1)
    b = matrix(NODES, 1)
    for row, r in enumerate(nodes):
        for i in range(DEGREE + 1):
            a[row, i] = r ** (2 + i)
        b[row] = r**2 * target(r)
    return list(lu_solve(a, b))


def main():
    coefficients = fit()
    rounded = [mpf(float(c)) for c in coefficients]
    grid = [BOUND * (mpf(2 * i + 1) / 4000 - 1) for i in range(4000)]
    worst = max(
        abs(r**2 * (sum(c * r**i for i, c in enumerate(rounded)) - target(r))) for r in grid
    )
    print(f"// largest error of the sum: 2^{float(log(worst, 2)):.2f}")
    for i, c in enumerate(coefficients):
        print(f"p{i} = {float(c).hex()}  // Taylor: 1/{int(factorial(i + 2))}")
    # ln(2) in two parts; the high one has 32 significant bits, so that k * high
    # is exact for every |k| < 2^21.
    ln2 = log(2)
    high = floor(ln2 * mpf(2) ** 32) / mpf(2) ** 32
    print(f"ln2_high = {float(high).hex()}")
    print(f"ln2_low = {float(ln2 - high).hex()}")
    print(f"log2e = {float(1 / ln2).hex()}")


if __name__ == "__main__":
    main()
