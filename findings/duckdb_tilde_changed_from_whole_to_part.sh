#!/usr/bin/env bash
# DuckDB 1.4.2 and 2.0.1: the operator ~ matches the whole text in one, and a part of it in the other.
#
# Guessed before: text ~ pattern is regexp_full_match(text, pattern), as the manual says, in every version.
# Seen: 'ab' ~ 'a' is false in 1.4.2 and true in 2.0.1, where it does what regexp_matches does;
# regexp_full_match('ab', 'a') is false in both. So a query with ~ counts other rows after an
# upgrade, without an error or a notice.
# Source: the manual's page on pattern matching,
# https://duckdb.org/docs/stable/sql/functions/pattern_matching
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=""
for version in 1.4.2 2.0.1; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" --quiet --disable-pip-version-check install "duckdb==$version"
  found+=$("$folder/$version/bin/python" -c '
import duckdb

rows = duckdb.execute("SELECT $$ab$$ ~ $$a$$, regexp_full_match($$ab$$, $$a$$), regexp_matches($$ab$$, $$a$$)")
print(duckdb.__version__, *rows.fetchone())
')$'\n'
done
printf '%s' "$found"
expected=$'1.4.2 False False True\n2.0.1 True False True\n'
if [ "$found" = "$expected" ]; then echo "as described"; else echo "this has changed"; exit 1; fi
