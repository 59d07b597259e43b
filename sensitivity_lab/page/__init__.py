"""The page: the calculator with controls and pictures, in a browser.

`answer` is all of it: a request in plain JSON, and its answer. In the site it runs in the browser,
in WebAssembly; `sensitivity-lab explore` and `sl.explore` serve the same page from this machine.
"""

from .answer import answer

__all__ = ["answer"]
