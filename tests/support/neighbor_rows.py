"""Blocks of the table of all neighbors."""

from __future__ import annotations

from itertools import groupby


def blocks_of(table):
    return {x: list(rows) for x, rows in groupby(table, key=lambda row: row.x)}


def by_mark(table, mark):
    return [row for row in table if getattr(row, mark)]
