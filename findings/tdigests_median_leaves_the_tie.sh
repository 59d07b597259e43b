#!/usr/bin/env bash
# tdigest 0.1.3 (npm) and pytdigest 0.1.4: the median of one 1 and five 5 is 4.33.
#
# Guessed before: a t-digest is an estimate for many records, and exact for six; at least, where
# five of six records are equal the median is that record.
# Seen: it is 4.33 in both, and 26.67 for 400 records of 20, 500 of 30 and 100 of 40, where 30 is
# the median of any definition. Equal records are put together, and quantiles are interpolated
# between the middles of such heaps: only a few records that all differ have the usual median. More
# records do not help: 0 in 60 % and 1 in 40 % of them have the median 0.4, which is their mean.
# Source: measured; https://www.npmjs.com/package/tdigest, https://pypi.org/project/pytdigest/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  pytdigest==0.1.4 numpy==2.4.6 pandas==3.1.1
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" tdigest@0.1.3
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
from pytdigest import TDigest

datasets = [[1] + [5] * 5, [20] * 400 + [30] * 500 + [40] * 100, [0] * 600 + [1] * 400]
found = [
    round(float(TDigest.compute(np.array(numbers, float)).inverse_cdf(0.5)), 3)
    for numbers in datasets
]
print("pytdigest:", found, "NumPy:", [float(np.median(numbers)) for numbers in datasets])
same = found == [4.333, 26.667, 0.4]
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
node --input-type=commonjs - <<'JAVASCRIPT'
const { TDigest } = require(`${process.cwd()}/node_modules/tdigest`);
const heap = (count, number) => Array(count).fill(number);
const datasets = [
  [1, ...heap(5, 5)],
  [...heap(400, 20), ...heap(500, 30), ...heap(100, 40)],
  [...heap(600, 0), ...heap(400, 1)],
];
const found = datasets.map((numbers) => {
  const digest = new TDigest();
  digest.push(numbers);
  return Math.round(digest.percentile(0.5) * 1000) / 1000;
});
console.log("tdigest:", found);
const same = JSON.stringify(found) === "[4.333,26.667,0.4]";
console.log(same ? "as described" : "this has changed");
process.exit(same ? 0 : 1);
JAVASCRIPT
