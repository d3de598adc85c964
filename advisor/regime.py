"""Find where a run changed its level for good; only the batches since then are judged."""

from __future__ import annotations

import numpy as np

from advisor.batches import instant
from advisor.statistics import middle, ranks
from advisor.window import Window

FEWEST_IN_REGIME = 15  # batches that a regime needs on each side of its change point
REGIME_P = 0.001  # chance that an even series shows such a split
REGIME_RATIO = 1.3  # medians of two regimes differ at least by this factor
REGIME_MS = 20.0  # ... and by this much
SHORTEST_REGIME_MS = 120_000.0
LEAST_OF_RUN = 0.1
WARM_UP_MS = 300_000.0  # in which a run that gets faster is warming up
FEWEST_RISING, FEWEST_FOR_HALVES = 4, 10  # batches; fewer than ten must rise from each one to the next
MOST_AT_ONCE = 0.6  # of the rise of few batches: more in one step is a step
EARLIER, LATER = 0.1, 0.3  # of the slope of all, that each half must show: a level that changes has flat sides


def latest_regime(window: Window) -> tuple[Window, Window | None]:
    """The batches since the last change point, and those between it and the change point before (or None).

    A change of less than two minutes or of a tenth of the run is none. A run that gets faster in its first minutes
    is warming up (the JVM compiles what runs often): its later batches are judged, and nothing has changed.
    Nor is there one in a run that gets slower all along: the latest batches are judged, since they are what it is now.
    """
    duration = window.batches["trigger_execution_ms"]
    known = np.flatnonzero(~np.isnan(duration))
    changes = [int(known[change]) for change in _last_changes(duration[known])]
    lasting = [at for at in changes if _warms_up(window, at) or _lasts(window, at)]
    if not lasting:
        return window, None
    at, before = lasting[0], changes[1] if lasting[0] == changes[0] and len(changes) > 1 else 0
    position, when = np.arange(len(window)), instant(window.batches["timestamp"][at])
    if _warms_up(window, at):
        return window.only(position >= at, "since the run is warm"), None
    if steady_rise(duration[known][known >= before]) > 0:
        return window.only(position >= at, "the latest batches of a run that gets slower all along"), None
    because = f"since the change at {when:%Y-%m-%d %H:%M:%S} UTC" if when else "since the change"
    latest = window.only(position >= at, because)
    return latest, window.only((position < at) & (position >= before), "before the change")


def steady_rise(series: np.ndarray) -> float:
    """By how much a series without NaN rises from its first value to its last, all along; 0 where it does not.

    The slope is that between the medians of the first and the last third, which outliers and spikes do not move.
    """
    count = len(series)
    if count < FEWEST_RISING:
        return 0.0
    if count < FEWEST_FOR_HALVES:
        steps, rise = np.diff(series), float(series[-1] - series[0])
        return rise if (steps > 0).all() and steps.max() <= MOST_AT_ONCE * rise else 0.0
    slope, half = slope_by_thirds(series), count // 2
    earlier, later = slope_by_thirds(series[:half]), slope_by_thirds(series[half:])
    return slope * (count - 1) if slope > 0 and earlier >= EARLIER * slope and later >= LATER * slope else 0.0


def slope_by_thirds(series: np.ndarray) -> float:
    """Rise from one value to the next, between the medians of the first and the last third (Tukey's resistant line)."""
    first, last = outer_thirds(series)
    return (last - first) / max(1, len(series) - max(1, len(series) // 3))


def outer_thirds(series: np.ndarray) -> tuple[float, float]:
    """Return the medians of the first and of the last third."""
    third = max(1, len(series) // 3)
    return middle(series[:third]), middle(series[-third:])


def _lasts(window: Window, at: int) -> bool:
    """Whether what began with this batch holds for minutes and for a share of the batches; unknown times hold."""
    changed, ended = (window.batches["timestamp"][place] for place in (at, -1))
    return not ended - changed < SHORTEST_REGIME_MS and len(window) - at >= LEAST_OF_RUN * len(window)


def _warms_up(window: Window, at: int) -> bool:
    """Whether the run was in its first minutes until this batch, and faster from it on."""
    duration, first = window.batches["trigger_execution_ms"], window.executed
    faster = np.nanmedian(duration[at:]) < np.nanmedian(duration[:at])
    started = bool(first["cold"][:1].any())
    return bool(faster and started and window.batches["timestamp"][at] - first["timestamp"][0] < WARM_UP_MS)


def _last_changes(duration: np.ndarray) -> list[int]:
    """Positions of the last two change points, the latest first."""
    found = [0]
    while (split := change_point(duration[found[-1] :])) is not None:
        found.append(found[-1] + split)
    return found[:0:-1][:2]


def change_point(series: np.ndarray) -> int | None:
    """Where a series changes its level, or None.

    Pettitt's rank test (Applied Statistics 28, 1979): U(t) = 2 x (sum of the first t ranks) - t x (n + 1), approximate
    p = 2 exp(-6 K^2 / (n^3 + n^2)) with K = max |U|. The medians must differ too: a test on ten thousand batches
    sees differences that nobody feels.
    """
    n = len(series)
    if n < 2 * FEWEST_IN_REGIME:
        return None
    t = np.arange(1, n)
    u = np.abs(2 * np.cumsum(ranks(series))[:-1] - t * (n + 1))
    # K itself leans towards the middle: the place is where U is largest for its own spread.
    possible = slice(FEWEST_IN_REGIME - 1, n - FEWEST_IN_REGIME)
    at = int(np.argmax((u / np.sqrt(t * (n - t)))[possible])) + FEWEST_IN_REGIME
    inside = u[possible]
    p = 2 * np.exp(-6 * float(inside.max()) ** 2 / (float(n) ** 3 + float(n) ** 2))
    old, new = middle(series[:at]), middle(series[at:])
    differs = max(old, new) >= REGIME_RATIO * min(old, new) and abs(new - old) >= REGIME_MS
    return _parted(series, old, new, possible) if p < REGIME_P and differs else None


def _parted(series: np.ndarray, old: float, new: float, possible: slice) -> int:
    """Where most batches before are nearer to the old level and most from there on to the new one.

    Ranks leave the place off by up to a dozen batches: those next to it look alike when they happen to be in order.
    """
    nearer = np.where(np.abs(series - old) < np.abs(series - new), 1, -1)
    return int(np.argmax(np.cumsum(nearer)[possible])) + FEWEST_IN_REGIME
