"""Sums over records for a regression on categories, compiled: no table of zeros and ones is made.

A row has a column of coefficients for each term, and 0, the intercept, where a term adds none to it.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from gamekeeper.algorithms.compiling import kernel


@kernel
def add_up(columns, line, sums):
    """Set the sum of the coefficients of every row."""
    n_rows, n_terms = columns.shape
    for row in range(n_rows):
        total = line[0]
        for term in range(n_terms):
            column = columns[row, term]
            if column > 0:
                total += line[column]
        sums[row] = total


@kernel
def add_products(columns, weights, left, slope, gram):
    """Add what rows have left to their coefficients, and weights to all pairs of these."""
    n_rows, n_terms = columns.shape
    for row in range(n_rows):
        weight, rest = weights[row], left[row]
        slope[0] += rest
        gram[0, 0] += weight
        for term in range(n_terms):
            column = columns[row, term]
            if column == 0:
                continue
            slope[column] += rest
            gram[column, 0] += weight
            for other in range(term + 1):
                second = columns[row, other]
                if second > 0:
                    gram[column, second] += weight
