"""The explorer: a page of controls and pictures over one universe after the other.

A *state* is what a user has chosen. The *model* computes the *views* of a state, from the number to
the pictures' data, and knows nothing of widgets. A *runner* lets a process of its own compute them,
so that a long search can be stopped. The *panel* has the widgets, which need the extra `explore`,
and the *page* shows a panel in a browser.
"""

from .call import explore

__all__ = ["explore"]
