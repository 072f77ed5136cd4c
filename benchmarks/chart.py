"""Draws the figures as one picture."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.figures import FLOORS, Figures, Spread
from benchmarks.service import LAG_P50, LAG_P99, Service

_INK, _PALE, _LIMIT = "#2b5d8a", "#a9c4dc", "#b5482f"


def draw(figures: Figures, service: Service, file: Path) -> None:
    """Write a PNG: ratios, latencies, lag, memory."""
    figure = Figure(figsize=(12, 8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(2, 2, place) for place in (1, 2, 3, 4)]
    _ratios(axes[0], figures.ratios())
    _latencies(axes[1], service)
    _lag(axes[2], service)
    _memory(axes[3], service)
    figure.savefig(file, dpi=110)


def _ratios(axes: Axes, ratios: Mapping[str, Spread]) -> None:
    names = [name for name in ratios if name in FLOORS]
    axes.barh(names, [ratios[name].median for name in names], color=_INK)
    for row, name in enumerate(names):
        axes.plot([FLOORS[name].demanded] * 2, [row - 0.4, row + 0.4], color=_LIMIT)
    axes.set_title("indexing: documents a second, part / whole (red: demanded)")


def _latencies(axes: Axes, service: Service) -> None:
    names = list(service.latencies)
    for key, color in (("p99", _PALE), ("p50", _INK)):
        values = [getattr(service.latencies[name], key) * 1000 for name in names]
        axes.barh(names, values, color=color, label=key)
    axes.set_title(f"latency, ms; GET / echo {service.get_per_echo:.2f}")
    axes.legend()


def _lag(axes: Axes, service: Service) -> None:
    values = sorted(service.lag.lags)
    shares = [(number + 1) / len(values) for number in range(len(values))]
    axes.plot(values, shares, color=_INK)
    for limit, share in ((LAG_P50, 0.5), (LAG_P99, 0.99)):
        axes.plot([limit], [share], marker="o", color=_LIMIT)
    axes.set_title(f"share of writes found after s, at {service.lag.rate:.0f} a second")


def _memory(axes: Axes, service: Service) -> None:
    for name, values in service.memory.processes.items():
        axes.plot(service.memory.minutes, values, label=name)
    axes.set_ylim(bottom=0)
    axes.set_title("resident memory, MiB, by minute: the calls of an hour")
    axes.legend()
