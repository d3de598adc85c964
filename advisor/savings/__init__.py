"""What a step would save: promises with an interval, from the run's own batches, calibrated by trials."""

from advisor.savings.batch import per_batch, saves_in
from advisor.savings.common import exclude, in_common, made_at_once, sets
from advisor.savings.promise import promise
from advisor.savings.record import per_record

__all__ = ["exclude", "in_common", "made_at_once", "per_batch", "per_record", "promise", "saves_in", "sets"]
