"""`python -m advisor` is `latency-advisor`."""

from advisor.cli import main

main(prog_name="latency-advisor")
