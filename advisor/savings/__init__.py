"""What a step would save: promises with an interval, from the run's own batches, calibrated by trials."""

from advisor.savings.promise import exclude, in_common, made_at_once, promise, sets
from advisor.savings.saving import per_batch, per_record, saves_in
