#!/usr/bin/env bash
# DuckDB 1.4.2: a macro may have the name of a built-in function, and then runs in its place.
#
# Guessed before: CREATE MACRO with the name of a built-in function is refused, as a Python function
# of that name is ("already exists"), or the built-in one keeps its name.
# Seen: CREATE MACRO succeeds without a notice. From then on every connection to the database calls
# the macro for upper(...) and least(...): SQL that a program generates for somebody else's database
# means another thing there. Only `system.main.upper(...)` still names the function. A Python
# function of such a name is refused.
# Source: the manual's page on CREATE MACRO names no such limit,
# https://duckdb.org/docs/stable/sql/statements/create_macro
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install duckdb==1.4.2 numpy==2.1.3
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import duckdb

base = duckdb.connect()
base.execute("CREATE MACRO upper(a) AS 'replaced'")
base.execute("CREATE MACRO least(a, b) AS 1000000")
other = base.cursor()
macro = other.execute("SELECT upper('a'), least(1, 2)").fetchone()
builtin = other.execute("SELECT system.main.upper('a')").fetchone()
try:
    base.create_function("abs", lambda x: x, ["BIGINT"], "BIGINT")
    refused = False
except duckdb.CatalogException:
    refused = True
print("macros:", macro, "built-in by its full name:", builtin, "Python function refused:", refused)
same = macro == ("replaced", 1000000) and builtin == ("A",) and refused
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
