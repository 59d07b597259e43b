"""The words of the reference suite: what its fields, relations and queries mean."""

from __future__ import annotations

PERCENTILE_METHODS = {
    "linear": "p = (n - 1) t; g = e",
    "weibull": "p = (n + 1) t - 1; g = e",
    "hazen": "p = n t - 1/2; g = e",
    "median_unbiased": "p = (n + 1/3) t - 2/3; g = e",
    "normal_unbiased": "p = (n + 1/4) t - 5/8; g = e",
    "interpolated_inverted_cdf": "p = n t - 1; g = e",
    "inverted_cdf": "p = n t - 1; g = 0 if e = 0, else 1",
    "averaged_inverted_cdf": "p = n t - 1; g = 1/2 if e = 0, else 1",
    "closest_observation": "p = n t - 3/2; g = 0 if e = 0 and i is odd, else 1",
    "lower": "p = (n - 1) t; g = 0",
    "higher": "p = (n - 1) t; g = 0 if e = 0, else 1",
    "midpoint": "p = (n - 1) t; g = 0 if e = 0, else 1/2",
    "nearest": "p = (n - 1) t; g = 0 if e < 1/2, 1 if e > 1/2; if e = 1/2, 0 if i is even, else 1",
}

FIELDS = {
    "number": "A JSON integer below 2^53 in magnitude, or a string: an integer, a decimal such as "
    "'0.1', or a fraction such as '25/3'. Each is exactly that rational number. The only JSON "
    "numbers with a fractional part are value and upper.",
    "universe": "The finite multiset of records that datasets are drawn from: distinct values, or "
    "rows of a table, and how often each is there. counts null: as often as a dataset can hold it. "
    "Two records may have equal values, and one can replace the other. scenario: 'dataset' if the "
    "universe is itself a dataset, 'domain' if it is a domain of values. In rows, null is a "
    "missing value; columns of type text hold plain strings, columns of type "
    "number hold numbers as above.",
    "size": "The number n of records of x. Neither x nor y is ever empty.",
    "norm": "Of the difference of two answers that are vectors: L1 the sum of the absolute "
    "differences, L2 the root of the sum of their squares, Linf the largest one. For an answer "
    "that is one number all three are the absolute difference.",
    "exact": "The global sensitivity: the maximum of the norm of f(x) - f(y) over all datasets x "
    "of n records of the universe and all neighbors y of x. A fraction, or {root: c} for sqrt c, "
    "or {root_difference: [a, b]} for sqrt a - sqrt b, with a > b > 0.",
    "value": "The double nearest to exact.",
    "upper": "The smallest double that is not below exact. A double c is at least exact if and "
    "only if c >= upper.",
    "witness": "Neighbors x and y that attain exact, and the query's answers on them: each a "
    "fraction or {root: c}, or a list of fractions.",
    "source": "Every value was found by enumeration of all datasets in exact arithmetic: "
    "'enumerated'. If it is known from elsewhere, an object: from, a key of sources; where, the "
    "place or formula there; says, the value there, a fraction, or a decimal that is right to one "
    "unit of its last digit.",
}

NEIGHBORS = {
    "picture": "x = C + A and y = C + B, where the records of C, A and B are different records of "
    "the universe. A relation says how many records A and B have.",
    "bounded": "d records replaced: |A| = |B| = d.",
    "unbounded": "d records removed, |A| = d and |B| = 0, or d records added, |A| = 0 and |B| = d; "
    "direction 'remove' or 'add' allows one of the two, 'both' allows either.",
    "symmetric_difference": "|A| + |B| = d.",
    "distance": "exactly true: d = k; exactly false: any d with 1 <= d <= k. What the universe has "
    "too few records for is left out. direction is 'both' for all but unbounded.",
    "check": "For multiplicities x_v and y_v, and M_v copies of v in the universe, let "
    "i = sum max(x_v - y_v, 0), j = sum max(y_v - x_v, 0) and "
    "s = sum min(x_v, y_v, M_v - max(x_v, y_v)), where M_v is infinite if counts is null. x and y "
    "are neighbors if and only if for some allowed (|A|, |B|) the numbers |A| - i and |B| - j are "
    "equal and between 0 and s: equal records can change places.",
}

QUERIES = {
    "mean": "The sum of the records over their number.",
    "median": "With the records sorted, the middle one, or the mean of the middle two.",
    "sum": "The sum of the records.",
    "count": "The number of records, or of rows.",
    "min": "The smallest record.",
    "max": "The largest record.",
    "var": "The sum of the squared deviations from the mean, over n - ddof.",
    "std": "The square root of var with the same ddof.",
    "percentile": "With the records sorted, v_0 <= ... <= v_(n-1), and t = q / 100, the method "
    "(see percentile_methods) gives a position p and, with i = floor(p) and e = p - i, a weight g. "
    "The answer is (1 - g) v_i + g v_(i+1), where an index below 0 stands for 0 and one above "
    "n - 1 for n - 1.",
    "count_if": "The number of rows whose value in column is at least value (operator '>=') or "
    "equal to it ('=='). For a missing value neither holds.",
    "sum_of": "The sum of column. With clip [l, u] a value below l counts as l, one above u as u. "
    "Missing values count nothing.",
    "mean_of": "The mean of column over the rows where it is not missing; the number empty if "
    "there is none. With empty null that case does not occur.",
    "covariance": "Over the m rows where neither a nor b is missing, the sum of the products of "
    "the deviations from the two means, over m - ddof.",
    "histogram": "For each of categories in turn, the number of rows with that value in column; "
    "null counts the missing ones. Other rows are not counted.",
    "histogram_of_bins": "For each pair of successive edges in turn, the number of rows whose "
    "value in column is at least the first and below the second; the last bin has its upper edge, "
    "too. Missing values and values outside are not counted.",
    "group_counts": "For each of groups in turn, the number of rows with that value in column; "
    "null is the group of the missing ones.",
    "group_sums": "For each of groups in turn, sum_of the column 'of' with clip, over the rows "
    "with that value in column; null is the group of the missing ones.",
}

SOURCES = {
    "lee-clifton": "J. Lee and C. Clifton, How Much Is Enough? Choosing epsilon for Differential "
    "Privacy, ISC 2011, as replicated in the article Global Sensitivity From Scratch",
    "from-scratch": "The article Global Sensitivity From Scratch and its successor. Unbounded "
    "means exactly k there, bounded at most k",
    "dppack": "DPpack, an R package, R/DataAccess.R, citing F. Liu (2019): closed forms for "
    "records in [L, U], histograms and contingency tables",
    "derived": "No publication: a closed form for records in [L, U], or another value that was "
    "stated before this enumeration confirmed it",
    "programming-dp": "J. P. Near and C. Abuah, Programming Differential Privacy, chapter "
    "Sensitivity",
}

DESCRIPTION = (
    "Exact global sensitivities of queries over finite universes, each with a pair of datasets "
    "that attains it, for testing privacy libraries in any language. See docs/reference_suite.md."
)
