"""Bytes to one typed event: the fast way for the usual shape, the patient way for all others."""

from __future__ import annotations

import msgspec

from advisor.progress import unusual
from advisor.progress.instants import is_instant
from advisor.progress.shapes import Progress, with_totals

_decode = msgspec.json.Decoder(Progress).decode

UNUSUAL = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `decode_usual` raises when the bytes are not an event of the usual shape."""


def decode_usual(raw: bytes) -> Progress:
    """The event in `raw`, if it has the usual shape; else one of UNUSUAL.

    Its timestamp is text that nobody has looked at: a column of them is checked in one go.
    """
    event = _decode(raw)
    return event if event.num_input_rows is not None else with_totals(event)


def decode(raw: bytes) -> Progress:
    """The event in `raw`: JSON, or a Python dict as print() shows it.

    Raises Broken when it is not one whole event, or not one whose meaning is clear.
    """
    try:
        event = decode_usual(raw)
    except UNUSUAL:
        return unusual.decode(raw)
    return event if is_instant(event.timestamp) else unusual.decode(raw)
