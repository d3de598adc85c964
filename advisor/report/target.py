"""Whether a query reaches its latency target: as it is, with the fewest steps that Spark takes, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from advisor.catalogue import ranking
from advisor.contract import Advice, Finding, Latencies, PlannedStep, Target, TargetVerdict
from advisor.metrics import Estimate, Missing, measure, sure
from advisor.metrics.backlog import grows
from advisor.metrics.interval import shortest_stable_interval_ms
from advisor.metrics.latency import held_back_ms
from advisor.metrics.phases import budget
from advisor.savings import exclude
from advisor.savings.after import WAITING, after, at_interval, at_load, can_be_modelled, catches_up, now
from advisor.statistics import rounded_up
from advisor.vocabulary import TAKES
from advisor.window import Window

MOST_STEPS, MOST_TOGETHER = 10, 4
LONGEST: Final = 60.0
"""Times the interval or batch of today: no longer interval is looked for."""
HALVINGS: Final = 12
LEAST_MS: Final = 1.0
_OF_WAVES: Final = ("waves_ms", "shuffle_waves_ms", "state_waves_excess_ms")
_Offer = tuple[str, Advice]


class Way(NamedTuple):
    """Steps, and the state that they lead to."""

    offers: tuple[_Offer, ...]
    state: Latencies

    @property
    def steps(self) -> list[Advice]:
        """The steps alone."""
        return [step for _, step in self.offers]

    @property
    def loses(self) -> tuple[bool, bool]:
        """Whether it loses state, and whether it weakens a guarantee."""
        steps = self.steps
        return any(step.takes == "new_checkpoint" for step in steps), any(s.semantics != "unchanged" for s in steps)

    @property
    def length(self) -> tuple[int, int, bool]:
        """How many steps it has, on how many facts they wait, and whether one was never measured."""
        return len(self.steps), sum(s.legal == "if" for s in self.steps), not all(map(_measured, self.steps))


def target(window: Window, findings: Sequence[Finding]) -> Target | None:
    """Return whether the target is reached; None without one."""
    wanted = window.facts.number("latency_target_ms")
    if wanted is None:
        return None
    stat, today = str(window.facts.value("latency_target_stat") or "p99"), now(window)
    if isinstance(today, Missing):
        return _unknown(window, stat, wanted, today)
    if today.at(stat) <= wanted:
        excess = measure(window, "latency_target_excess_ms")
        if isinstance(excess, Missing) and (grows(window) or sure(window, "limited_share") > 0):
            return Target(stat=stat, ms=wanted, verdict="unknown", missing=excess.reason)
        return _reached(window, stat, wanted, today)
    search = Search(window, stat)
    ways = list(search.ways(_offers(findings)))
    reaching = [way for way in ways if way.state.at(stat) <= wanted]
    if reaching:

        def is_doubtful(way: Way) -> bool:
            return search.ends(way.steps)[1] > wanted or not all(map(_measured, way.steps)) or search.lags(way.steps)

        best = min(reaching, key=lambda way: (way.loses, is_doubtful(way), way.length, way.state.at(stat)))
        verdict: TargetVerdict = "may be reached" if is_doubtful(best) else "reached with steps"
        return Target(stat=stat, ms=wanted, verdict=verdict, now=today.rounded(), steps=search.in_order(best))
    nearest = _nearest(ways, Way((), today), stat)
    at_best = search.ends(nearest.steps)[0]
    ends_waves = any(step.saves_of in _OF_WAVES for step in nearest.steps)  # those of today say nothing then
    idle = sure(window, "slots_short_share") < ranking()["worth_a_restart"]  # more slots would be, behind one long task
    waves = Missing("more slots do not help") if ends_waves or idle else measure(window, "most_waves", "p50")
    return Target(
        stat=stat,
        ms=wanted,
        verdict="may be reached" if at_best <= wanted else "not reached",
        now=today.rounded(),
        steps=search.in_order(nearest),
        left_ms=round(nearest.state.at(stat) - wanted, 1),
        in_the_way=_in_the_way(nearest, budget(window)),
        holds_at_rows=_holds_at(window, stat, wanted - (nearest.state.at(stat) - today.at(stat))),
        waves=waves.safe if isinstance(waves, Estimate) and waves.safe > 1 else None,
    )


def _unknown(window: Window, stat: str, wanted: float, today: Missing) -> Target:
    """Return why no latency is known; a result that the watermark holds back waits for all its delay."""
    held_back = held_back_ms(window)
    if held_back is None:
        return Target(stat=stat, ms=wanted, verdict="unknown", missing=today.reason)
    return Target(
        stat=stat,
        ms=wanted,
        verdict="not reached" if held_back > wanted else "unknown",
        left_ms=round(held_back - wanted, 1) if held_back > wanted else None,
        missing=f"{today.reason}; a shorter delay or window brings it sooner, and update mode with its own batch",
    )


def _nearest(ways: Sequence[Way], today: Way, stat: str) -> Way:
    """Return the way that comes nearest; one that keeps the state if it gains a good part of that."""
    ranked = sorted(ways, key=lambda way: (round(way.state.at(stat)), way.loses, way.length))
    best, kept = next(iter(ranked), today), next((way for way in ranked if not way.loses[0]), today)
    gains, keeps = (today.state.at(stat) - way.state.at(stat) for way in (best, kept))
    return kept if keeps >= ranking()["good_part"] * gains else best


def _offers(findings: Sequence[Finding]) -> list[_Offer]:
    """Return the steps that may be proposed and that promise something, the larger saving first."""
    found: dict[str, _Offer] = {}
    for finding in findings:
        for step in finding.steps:
            may_be = step.legal != "no" and not step.untold_kinds and not finding.is_rash(step)
            if may_be and can_be_modelled(step) and _most(step) >= LEAST_MS:
                found.setdefault(step.id, (finding.rule, step))
    return sorted(found.values(), key=lambda offer: -_most(offer[1]))[:MOST_STEPS]


class Search:
    """Looks through sets of steps for one target of one window."""

    def __init__(self, window: Window, stat: str) -> None:
        self._window, self._stat, self._budget = window, stat, budget(window)

    def ways(self, offers: Sequence[_Offer]) -> Iterator[Way]:
        """Return every set of steps that go together, the smallest first."""
        for count in range(1, min(MOST_TOGETHER, len(offers)) + 1):
            for chosen in combinations(offers, count):
                if all(_go_together(one, other) for (_, one), (_, other) in combinations(chosen, 2)):
                    yield Way(chosen, self._after([step for _, step in chosen]))

    def in_order(self, way: Way) -> tuple[PlannedStep, ...]:
        """Return the steps in the order in which to take them, with what is expected after each.

        What takes less comes first, a new checkpoint last; of steps alike that which gains more. So the interval may
        come before what makes batches shorter, and is shorter again after that.
        """

        def turn(offer: _Offer) -> tuple[int, float]:
            return TAKES.index(offer[1].takes), self._after([offer[1]]).at(self._stat)

        ordered = sorted(way.offers, key=turn)
        return tuple(self._planned(ordered[: number + 1]) for number in range(len(ordered)))

    def _planned(self, taken: Sequence[_Offer]) -> PlannedStep:
        (rule, step), steps = taken[-1], [step for _, step in taken]
        low, high = self.ends(steps)
        return PlannedStep(
            rule=rule,
            step=step.id,
            do=step.do,
            legal=step.legal,
            takes=step.takes,
            semantics=step.semantics,
            after=self._after(steps).rounded(),
            low=round(low, 1),
            high=round(high, 1),
            unknown=step.unknown,
            measured=_measured(step),
        )

    def ends(self, steps: Sequence[Advice]) -> tuple[float, float]:
        """Return the shortest and the longest latency that the promises of these steps leave."""
        found = [self._after(steps, end).at(self._stat) for end in ("low", "likely", "high")]
        return min(found), max(found)

    def lags(self, steps: Sequence[Advice]) -> bool:
        """Return whether the backlog grows on, so that the latency of today is not that of tomorrow."""
        waits = any(step.saves_of in WAITING for step in steps)
        return not waits and grows(self._window) and not catches_up(self._window, steps, self._budget, "low")

    def _after(self, steps: Sequence[Advice], end: str = "likely") -> Latencies:
        return after(self._window, steps, self._budget, end)


def _go_together(one: Advice, other: Advice) -> bool:
    """Whether two steps can be taken beside each other and the model knows what they save in common."""
    modes = [step for step in (one, other) if step.saves_of == "record_latency_ms"]
    batches = [step for step in (one, other) if step.saves_ms and not step.saves_in and not step.ends_slow_batches]
    both_save = one.saves_ms is not None and other.saves_ms is not None
    return not exclude(one, other) and not modes and not (batches and both_save)


def _reached(window: Window, stat: str, wanted: float, today: Latencies) -> Target:
    idle = sure(window, "idle_slots_share")
    return Target(
        stat=stat,
        ms=wanted,
        verdict="reached",
        now=today.rounded(),
        longest_interval_ms=_longest_interval(window, stat, wanted),
        idle_slots=round(idle, 2) if idle > 0 else None,
    )


def _longest_interval(window: Window, stat: str, wanted: float) -> float | None:
    """Return the longest trigger interval that keeps the target; None if none longer than today's does."""
    if window.facts.value("trigger") not in ("processing_time", "unspecified"):
        return None
    today = window.facts.fixed_interval_ms or sure(window, "interval_ms")
    shortest = shortest_stable_interval_ms(window)
    low = max(today, shortest.safe if isinstance(shortest, Estimate) else today)

    def is_quick(interval: float) -> bool:
        return at_interval(window, interval).at(stat) <= wanted

    if not low > 0 or not is_quick(low):
        return None
    low = _largest(low, LONGEST * low, is_quick)
    found = rounded_up(low * 0.95) if low > 100 else low
    return found if found > 1.05 * today else None


def _largest(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return the largest number from `low`, which holds, up to `high` that holds, found by halving."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _in_the_way(way: Way, phases_ms: Mapping[str, float]) -> dict[str, float]:
    """Return what is left of a record's wait, in ms: the phases of its batch, and the wait for the batch to start."""
    saved: dict[str, float] = {}
    for step in way.steps:
        phases = {phase: phases_ms.get(phase, 0.0) for phase in step.saves_in}
        whole, ms = sum(phases.values()), step.saves_ms.told if step.saves_ms else 0.0
        for phase, of in phases.items():
            saved[phase] = saved.get(phase, 0.0) + ms * of / whole if whole > 0 else 0.0
    left = {phase: round(ms - saved.get(phase, 0.0), 1) for phase, ms in phases_ms.items()}
    waits = {"wait": round(max(0.0, way.state.p50 - sum(max(0.0, ms) for ms in left.values())), 1)}
    parts = sorted((left | waits).items(), key=lambda part: -part[1])
    return {name: ms for name, ms in parts[:3] if ms >= LEAST_MS}


def _holds_at(window: Window, stat: str, wanted: float) -> float | None:
    """Return the rows a second at which records are that quick; None if no load is low enough, or that is unknown."""

    def is_quick(share: float) -> bool:
        found = at_load(window, share)
        return found is not None and found.at(stat) <= wanted

    if not is_quick(0.0):
        return None
    return float(f"{_largest(0.0, 1.0, is_quick) * sure(window, 'rows_coming_per_second'):.2g}") or None


def _measured(step: Advice) -> bool:
    promise = step.saves_ms or step.saves_latency_ms
    return promise is None or promise.expected is not None


def _most(step: Advice) -> float:
    return max((one.high for one in (step.saves_ms, step.saves_latency_ms) if one), default=0.0)
