"""The palette keeps WCAG's contrast in both themes: text 4.5:1, edges of controls 3:1."""

import math
import re
from pathlib import Path

import pytest

TOKENS = (Path(__file__).resolve().parents[3] / "static/css/tokens.css").read_text()
GROUNDS = ("paper", "sheet", "margin", "hover")
TEXT = [
    *((ink, ground) for ink in ("ink", "ink-soft") for ground in GROUNDS),
    *(("ink-faint", ground) for ground in ("paper", "sheet", "margin")),
    *((ink, ground) for ink in ("petrol", "moss", "brick") for ground in ("paper", "sheet")),
    ("petrol", "petrol-wash"),
    ("ink", "petrol-wash"),
    ("ink-soft", "petrol-wash"),
    ("on-petrol", "petrol"),
    ("on-petrol", "petrol-press"),
    ("marigold-ink", "marigold-wash"),
    ("marigold-ink", "sheet"),
    ("ink", "marigold-wash"),
    ("on-marigold", "marigold"),
    ("brick", "brick-wash"),
]
EDGES = [("rule-strong", ground) for ground in ("paper", "sheet", "margin")] + [
    ("petrol", "paper"),
    ("petrol", "sheet"),
]


def colour(name: str, theme: str) -> tuple[float, float, float]:
    """Linear sRGB of a token (CSS Color 4, OKLCH)."""
    value = re.search(rf"--{name}:\s*([^;]+);", TOKENS)[1]
    both = re.findall(r"oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)", value)
    lightness, chroma, hue = (float(part) for part in both[0 if theme == "light" else -1])
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    lightness /= 100
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return tuple(min(1.0, max(0.0, part)) for part in (red, green, blue))


def contrast(one: str, other: str, theme: str) -> float:
    def luminance(name: str) -> float:
        red, green, blue = colour(name, theme)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_arithmetic_is_right():
    assert contrast("paper", "paper", "light") == 1
    assert round(contrast("ink", "paper", "light")) in range(12, 17)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_can_be_read(ink: str, ground: str, theme: str):
    assert contrast(ink, ground, theme) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("edge", "ground"), EDGES)
def test_edges_of_controls_can_be_seen(edge: str, ground: str, theme: str):
    assert contrast(edge, ground, theme) >= 3
