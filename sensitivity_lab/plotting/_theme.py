"""Light and dark: the colors of a picture on its background."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba

# Okabe and Ito's palette without its yellow, which is too pale for a line on white, and three more
# colors; next to each, a brighter one of the same hue for dark backgrounds.
_BRIGHTER = {
    "#000000": "#FFFFFF",
    "#E69F00": "#FFB81C",
    "#56B4E9": "#7CCBF7",
    "#009E73": "#2BD1A0",
    "#0072B2": "#5AA9FF",
    "#D55E00": "#FF8A47",
    "#CC79A7": "#F09CCB",
    "#777777": "#AAAAAA",
    "#7A4B20": "#D9A066",
    "#5E3C99": "#B9A1F2",
}

PALETTE = tuple(_BRIGHTER)
"""Colors of lines: ten of different lightness or hue."""

BLUE, RED = "#0072B2", "#D55E00"
"""Colors for records only in x and only in y, and for other contrasts."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")
"""Markers of lines; with ten colors, the first 110 lines all differ."""

_MIDDLE = 0.4
"""The luminance below which a background is dark."""


@dataclass(frozen=True)
class Theme:
    """The colors of a picture.

    Attributes
    ----------
    dark : bool
        Whether the background is dark.
    ink : str
        Text and outlines.
    paper : str
        The background, for covering marks and for hollow markers.
    """

    dark: bool
    ink: str
    paper: str

    def gray(self, level: float) -> str:
        """Return the gray whose contrast to the background is that of a level on white (1)."""
        return f"{0.92 * (1 - level) + 0.08:.3f}" if self.dark else str(level)

    def color(self, light: str) -> str:
        """Return a color of the palette, brighter where the background is dark."""
        return _BRIGHTER.get(light, light) if self.dark else light


def theme(ax: Axes) -> Theme:
    """Return the colors for some Axes."""
    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha == 0:
        red, green, blue, alpha = to_rgba(ax.figure.get_facecolor())
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    dark = alpha > 0 and luminance < _MIDDLE
    paper = to_hex((red, green, blue)) if alpha else "#ffffff"
    return Theme(dark, "#f2f2f2" if dark else "#000000", paper)
