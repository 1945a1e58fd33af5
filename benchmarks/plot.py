"""Cost against size on log axes, as an SVG for light and one for dark pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from report import CURVES

# Colours that stay apart for all kinds of colour vision, a line style each, and the name at the end of the line.
STYLES = {
    "torch": ("PyTorch, 1 thread", "#0072b2", "-", "o"),
    "tinytorch": ("tinytorch", "#d55e00", "-", "s"),
    "numpy": ("bare NumPy", "#7f7f7f", ":", None),
    "mygrad": ("MyGrad", "#009e73", "--", "^"),
    "autograd": ("HIPS autograd", "#cc79a7", "-.", "v"),
    "tinygrad": ("tinygrad", "#a07800", "--", "D"),
}
BRIGHTER = {"#0072b2": "#56b4e9", "#7f7f7f": "#a6a6a6", "#a07800": "#d9a900"}  # on dark paper
THEMES = {"light": ("#ffffff", "#1f2328", "#d0d7de"), "dark": ("#0d1117", "#e6edf3", "#30363d")}
TITLES = {"mul": "x * y", "(x*y).sum() + backward": "(x * y).sum() and backward"}


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write size-light.svg and size-dark.svg into a folder. ImportError without matplotlib."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for theme, (paper, ink, grid) in THEMES.items():
        settings = {
            "svg.hashsalt": "copylab", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10,
            "text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": grid, "xtick.color": ink, "ytick.color": ink,
            "figure.facecolor": paper, "axes.facecolor": paper, "grid.color": grid,
            "axes.spines.top": False, "axes.spines.right": False,
        }  # fmt: skip
        with mpl.rc_context(settings):
            figure, axes = plt.subplots(
                1, len(CURVES), figsize=(9.5, 4.2), sharey=True, layout="constrained"
            )
            for ax, operation in zip(axes, CURVES, strict=True):
                _curves(ax, results["cases"], operation, BRIGHTER if theme == "dark" else {})
                ax.set_title(TITLES[operation], fontsize=11)
            axes[0].set_ylabel("microseconds a call")
            handles, labels = axes[-1].get_legend_handles_labels()
            figure.legend(
                handles, labels, loc="outside lower center", ncols=len(labels), frameon=False
            )
            path = folder / f"size-{theme}.svg"
            figure.savefig(path, metadata={"Date": None, "Creator": None})
            plt.close(figure)
            made.append(path)
    return made


def _curves(ax: Any, cases: dict[str, Any], operation: str, other: dict[str, str]) -> None:
    sizes = sorted(
        int(name.rsplit("/", 1)[1]) for name in cases if name.startswith(f"size/{operation}/")
    )
    for key, (label, colour, line, marker) in STYLES.items():
        points = [
            (n, cases[f"size/{operation}/{n}"][key]["seconds"] * 1e6)
            for n in sizes
            if key in cases[f"size/{operation}/{n}"]
        ]
        drawn = zip(*points, strict=True) if points else ([], [])
        style = {
            "color": other.get(colour, colour),
            "linestyle": line,
            "marker": marker,
            "label": label,
        }
        ax.plot(*drawn, markersize=4, linewidth=1.6, **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("elements (float32)")
    ax.grid(visible=True, which="major", linewidth=0.6)
