"""What is known about a run, from which origin, and how conflicts between origins are settled.

Not imported here, since names and values alone must load fast: `evidence` and `inspection`.
"""

from advisor.facts.confs import (
    from_conf,
    from_confs,
    from_file_options,
    from_reader_options,
    from_writer_options,
    in_order,
)
from advisor.facts.names import APPLICATION_STARTS, EXECUTOR, FACTS, LATE_BATCH, ORIGINS, Fact, Known, Sighting
from advisor.facts.settlement import Facts, settle
from advisor.facts.values import check_value, conf_number, fact_named, parse_user_fact, read_value, value_in_words
from advisor.facts.versions import (
    is_older,
    is_version,
    may_be_spark,
    platform_of,
    same_version,
    version_at_least,
    version_in_words,
    version_numbers,
)
from advisor.vocabulary import CONF
