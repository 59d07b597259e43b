#!/usr/bin/env bash
# jstat 1.9.6 (npm): the 90th percentile of four numbers is the third of them.
#
# Guessed before: jStat.percentile([1, 2, 3, 4], 0.9) is 3.7, since percentile(.., 0.25) is 1.75, as
# NumPy's.
# Seen: it is 3, as is every percentile from the 67th to the 99th, and the 100th is 4: at the last gap
# nothing is interpolated. Of 0, 0, 0, 1 the 90th percentile is 0. jStat.quantiles(.., [0.9]) is 4, and
# quartiles are records without interpolation: three definitions in one library, and the
# sensitivity of a percentile fits none of these at the top.
# Source: measured; https://github.com/jstat/jstat
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" jstat@1.9.6
node --input-type=commonjs - <<'JAVASCRIPT'
const { jStat } = require(`${process.cwd()}/node_modules/jstat`);
const four = [1, 2, 3, 4];
const found = [0.25, 0.5, 0.67, 0.9, 0.99, 1].map((p) => jStat.percentile(four, p));
const other = [jStat.percentile([0, 0, 0, 1], 0.9), jStat.quantiles(four, [0.9])[0]];
console.log("percentiles 25, 50, 67, 90, 99, 100:", found, "of 0, 0, 0, 1; quantiles:", other);
const same = JSON.stringify([found, other]) === "[[1.75,2.5,3,3,3,4],[0,4]]";
console.log(same ? "as described" : "this has changed");
process.exit(same ? 0 : 1);
JAVASCRIPT
