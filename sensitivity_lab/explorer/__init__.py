"""The explorer: a page of controls and pictures for one universe at a time.

A *state* holds the user's choices. The *model* computes the *views* of a state, from the number to
the data of the pictures, and does not depend on widgets. A *runner* computes them in a separate
process, which can stop a long search. The *panel* has the widgets, which need the extra `explore`,
and the *page* shows a panel in a browser.
"""

from .call import explore

__all__ = ["explore"]
