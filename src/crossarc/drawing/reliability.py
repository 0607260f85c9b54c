"""The reliability diagram: how often predictions of each probability are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["reliability_diagram"]

Point = tuple[float, float, int]  # mean probability, share that is right, how many predictions

_SIZE, _LEFT, _TOP = 360, 60, 40
_COLOURS = ("#1f6f8b", "#c05621")


def reliability_diagram(curves: Mapping[str, Sequence[Point]], title: str) -> str:
    """An SVG with one curve for each name; a point's area grows with its number of predictions."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE + 100} {_SIZE + 110}" font-family="sans-serif" '
        'font-size="12" fill="#222">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{_LEFT + _SIZE / 2}" y="24" text-anchor="middle" font-size="14">{escape(title)}</text>',
        *_axes(),
    ]
    for i, (name, points) in enumerate(curves.items()):
        lines += _curve(name, points, _COLOURS[i % len(_COLOURS)], i)
    return "\n".join([*lines, "</svg>", ""])


def _x(value: float) -> float:
    return round(_LEFT + value * _SIZE, 1)


def _y(value: float) -> float:
    return round(_TOP + (1 - value) * _SIZE, 1)


def _axes() -> list[str]:
    lines = [f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#888" stroke-dasharray="4 4"/>']
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        lines += [
            f'<line x1="{_x(0)}" y1="{_y(tick)}" x2="{_x(1)}" y2="{_y(tick)}" stroke="#ddd"/>',
            f'<line x1="{_x(tick)}" y1="{_y(0)}" x2="{_x(tick)}" y2="{_y(1)}" stroke="#ddd"/>',
            f'<text x="{_x(tick)}" y="{_y(0) + 18}" text-anchor="middle">{tick:.1f}</text>',
            f'<text x="{_x(0) - 8}" y="{_y(tick) + 4}" text-anchor="end">{tick:.1f}</text>',
        ]
    turned = f'transform="rotate(-90 18 {_y(0.5)})"'
    return [
        *lines,
        f'<text x="{_x(0.5)}" y="{_y(0) + 40}" text-anchor="middle">probability</text>',
        f'<text x="18" y="{_y(0.5)}" text-anchor="middle" {turned}>share that is right</text>',
    ]


def _curve(name: str, points: Sequence[Point], colour: str, number: int) -> list[str]:
    total = sum(count for _, _, count in points)
    path = " ".join(f"{_x(confidence)},{_y(accuracy)}" for confidence, accuracy, _ in points)
    lines = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>']
    for confidence, accuracy, count in points:
        radius = round(2.5 + 12 * (count / total) ** 0.5, 1)
        lines.append(
            f'<circle cx="{_x(confidence)}" cy="{_y(accuracy)}" r="{radius}" fill="{colour}" fill-opacity="0.5">'
            f"<title>{count} predictions, {100 * accuracy:.1f} % right</title></circle>"
        )
    y = _TOP + 18 + 18 * number
    lines += [
        f'<circle cx="{_LEFT + 14}" cy="{y - 4}" r="5" fill="{colour}"/>',
        f'<text x="{_LEFT + 26}" y="{y}">{escape(name)}</text>',
    ]
    return lines
