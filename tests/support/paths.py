"""Where things are in the checkout, wherever a test stands."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sensitivity_lab"
DATA = ROOT / "data"
TESTS = ROOT / "tests"
SUPPORT = TESTS / "support"
ARTICLE_FILE = DATA / "article_k12.json"
