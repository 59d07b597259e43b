"""How Sphinx builds the site; `tools/make_site.py` runs it."""

import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

project = "sensitivity_lab"
author = "sensitivity_lab contributors"
copyright = author  # noqa: A001 - the name that Sphinx reads
release = version = declared["version"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "figures",
    "mathml",
]
html_math_renderer = "mathml"
templates_path: list[str] = []
exclude_patterns: list[str] = []

# Notebooks are shown with the outputs that are committed; tests compare these with what runs today.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# What is copied is the code: no prompts, no output.
copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ "
copybutton_prompt_is_regexp = True

default_role = "py:obj"
autodoc_typehints = "none"  # the docstrings say it, with shapes and units
autodoc_mock_imports = [] if find_spec("opendp") else ["opendp"]
numpydoc_show_class_members = False

smartquotes = False  # `--strict` is no dash

html_theme = "pydata_sphinx_theme"
html_title = "sensitivity_lab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_search_scorer = str(HERE / "scorer.js")
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
# These have no pages of their own to list at the side.
html_sidebars = {"index": [], "start": []}
