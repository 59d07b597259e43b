#!/usr/bin/env bash
# csvkit 2.2.0: a column of zeros and ones has no mean.
#
# Guessed before: csvstat says of the records 0, 1, 0, 1 what it says of 1, 2, 3, 4: a mean, a median
# and a standard deviation.
# Seen: the column is taken for truth values, "0" and "1" become False and True, and nothing but
# counts is printed. One record 2 more, and all of the column is numbers again, with a mean: whether
# there is an answer depends on one person's record.
# Source: measured; https://agate.readthedocs.io/en/latest/api/data_types.html (Boolean)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  csvkit==2.2.0 agate==1.14.2
cd "$folder"
printf 'x,y\n0,a\n1,a\n0,a\n1,a\n' > four.csv
{ cat four.csv; printf '2,a\n'; } > five.csv
four=$("$folder/venv/bin/csvstat" --columns x four.csv)
five=$("$folder/venv/bin/csvstat" --columns x five.csv)
grep --extended-regexp "Type of data|Mean" <<< "$four"
echo "and with one record 2:"
grep --extended-regexp "Type of data|Mean" <<< "$five"
if grep --quiet Boolean <<< "$four" && ! grep --quiet Mean <<< "$four" &&
  grep --quiet "Mean: *0.8" <<< "$five"; then
  echo "as described"
else
  echo "this has changed"
  exit 1
fi
