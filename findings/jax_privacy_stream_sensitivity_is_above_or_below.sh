#!/usr/bin/env bash
# jax-privacy 2.0.0: the sensitivity of a matrix is an upper bound for one, and below the truth for
# another.
#
# Guessed before: fixed_epoch_sensitivity is exact in double precision where a matrix has no negative
# entry, and raises or says "bound" where X = C'C has negative ones.
# Seen: for the square root of 1,000 running sums and 5 participations it is 5.1880326, and the norm
# of the five columns is 5.1880329: JAX computes in single precision unless jax_enable_x64 is set, so
# that a NumPy matrix in double precision loses its digits, here downward. For
# X = 3 I - J and three participations it is 3.4641, the sum of absolute values; contributions in
# [-1, 1] give at most 2.8284 and vectors of norm 1 give 3. The name says sensitivity in both cases.
# Source: measured; jax_privacy.matrix_factorization.sensitivity,
# https://pypi.org/project/jax-privacy/2.0.0/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  jax-privacy==2.0.0 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import itertools
import sys

import numpy as np
from jax_privacy.matrix_factorization import sensitivity

steps = 1000
root = [1.0]
for i in range(1, steps):
    root.append(root[-1] * (2 * i - 1) / (2 * i))
matrix = np.zeros((steps, steps))
for column in range(steps):
    matrix[column:, column] = root[: steps - column]
theirs = float(sensitivity.fixed_epoch_sensitivity(matrix, 5))
true = float(np.linalg.norm(matrix[:, ::200].sum(axis=1)))
gram = 3 * np.eye(3) - np.ones((3, 3))
above = float(sensitivity.fixed_epoch_sensitivity_for_X(gram, 3))
signs = [np.array(one) for one in itertools.product([-1, 1], repeat=3)]
numbers = max(float(one @ gram @ one) for one in signs) ** 0.5
print("square root: theirs", theirs, "true", true)
print("3 I - J: theirs", above, "true for numbers", numbers)
same = 1e-7 < true - theirs < 1e-6 and abs(above - 12**0.5) < 1e-5 and abs(numbers - 8**0.5) < 1e-12
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
