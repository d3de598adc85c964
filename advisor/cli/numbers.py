"""Numbers that an option takes."""

from __future__ import annotations

import math
from typing import Any

import click


class Finite(click.FloatRange):
    """A number of a range that is neither infinite nor NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click.BadParameter for anything else."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not finite.", param, ctx)
        return number


SECONDS = Finite(min=0, min_open=True)
PERCENT = Finite(min=0)
