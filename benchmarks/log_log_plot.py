"""Time against size on logarithmic axes, as an SVG that is the same file for the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Curve:
    """Seconds at each size, and the order that was promised (None: nothing was)."""

    name: str
    sizes: Sequence[int]
    seconds: Sequence[float]
    promised: int | None = None

    def slope(self, smallest: int = 80) -> float:
        """The exponent fitted to the sizes from `smallest` on, where constant costs no longer count."""
        points = [(n, s) for n, s in zip(self.sizes, self.seconds, strict=True) if n >= smallest]
        return float(np.polyfit(*np.log(np.array(points)).T, 1)[0])


def save(path: Path, title: str, curves: Sequence[Curve]) -> None:
    """Draw the curves; a dashed line of the promised order runs down from the last point of each."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "crossarc", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 6), layout="constrained")
    for curve in curves:
        label = f"{curve.name}: n^{curve.slope():.2f}"
        (line,) = axes.loglog(curve.sizes, curve.seconds, marker="o", markersize=4, label=label)
        if curve.promised is not None:
            sizes = np.array(curve.sizes, dtype=float)
            guide = curve.seconds[-1] * (sizes / sizes[-1]) ** curve.promised
            axes.loglog(sizes, guide, linestyle="--", linewidth=0.8, color=line.get_color())
    axes.set(title=title, xlabel="words in the sentence, n", ylabel="seconds per call")
    axes.grid(which="major", linewidth=0.3)
    axes.legend(title="exponent fitted from n = 80 on; dashed: the promised order", fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)
