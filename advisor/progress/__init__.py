"""Decodes one progress event of any Spark version (2.1 to 4.3, Databricks) into a typed record."""

from advisor.progress.decoding import UNUSUAL, decode_usual, from_object
from advisor.progress.partial import FROM_UI, INPUT_RATE, PARTS, UNNAMED, Partial, decode
from advisor.progress.shapes import Broken, Progress
