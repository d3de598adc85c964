"""Reads the same text in many lines at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from advisor.sources.stages.layout import words

_WORD = 8
_U = np.uint64
_ZEROS, _HIGH, _TO_HIGH = _U(0x3030303030303030), _U(0x8080808080808080), _U(0x7676767676767676)
_PLACES = _U(0x0001020304050607)
_PAIRS = ((_U(10), _U(8), _U(0x00FF00FF00FF00FF)), (_U(100), _U(16), _U(0x0000FFFF0000FFFF)))
_HALVES = _U(10_000), _U(32), _U(0x00000000FFFFFFFF)
_SCALES = 10 ** np.arange(_WORD)


class Cursor:
    """A place in each of many lines, that moves over what is expected there.

    Eight letters are looked at together, as one number, of all lines in turn: so each step is one of numpy's. A line
    in which something else stands fits no longer, and what is read in it means nothing. Numbers have at most seven
    digits; what is longer does not fit.
    """

    def __init__(self, text: np.ndarray, places: np.ndarray) -> None:
        self._words = words(text, _WORD)
        self.at = places
        self.fits = np.ones(len(places), bool)

    def sees(self, expected: bytes, ahead: int = 0) -> np.ndarray:
        """Whether this stands so many letters behind the place."""
        seen = np.ones(len(self.at), bool)
        for begin in range(0, len(expected), _WORD):
            part = expected[begin : begin + _WORD]
            mask = _U((1 << 8 * len(part)) - 1)
            seen &= self._words[self.at + (ahead + begin)] & mask == _U(int.from_bytes(part, "little"))
        return seen

    def passes(self, expected: bytes) -> None:
        """This stands behind the place, which moves behind it."""
        self.fits &= self.sees(expected)
        self.at = self.at + len(expected)

    def passes_back(self, expected: bytes) -> None:
        """This stands before the place, which moves before it."""
        self.at = self.at - len(expected)
        self.fits &= self.sees(expected)

    def passes_one(self, *expected: bytes) -> np.ndarray:
        """One of these stands behind the place, which moves behind it; which of them."""
        which = self._one([self.sees(each) for each in expected])
        self.at = self.at + np.array([len(each) for each in expected])[which]
        return which

    def passes_one_back(self, *expected: bytes) -> np.ndarray:
        """One of these stands before the place, which moves before it; which of them."""
        which = self._one([self.sees(each, -len(each)) for each in expected])
        self.at = self.at - np.array([len(each) for each in expected])[which]
        return which

    def number(self) -> np.ndarray:
        """The number behind the place, which moves behind it."""
        letters = self._words[self.at] ^ _ZEROS
        digits = _digits(letters)
        self.fits &= digits > 0
        self.at = self.at + digits
        return _value(letters << _unread(digits))

    def letters(self, count: int) -> np.ndarray:
        """So many letters behind the place, at most eight, which moves behind them; as bytes of numpy."""
        found = self._words[self.at] & _U((1 << 8 * count) - 1)
        self.at = self.at + count
        return np.asarray(found.astype("<u8").view("S8"))

    def number_back(self) -> np.ndarray:
        """The number before the place, which moves before it."""
        value, digits = self._back()
        self.fits &= digits > 0
        return value

    def decimal_back(self) -> np.ndarray:
        """The number before the place, which may have a point; the place moves before it."""
        last, digits = self._back()
        self.at = self.at - 1
        pointed = self.sees(b".")
        self.at = self.at + ~pointed
        whole, before = self._back()
        self.fits &= (digits > 0) & ((before > 0) == pointed)
        scale = np.where(pointed, _SCALES[digits], 1)
        return np.asarray((whole * scale + last) / scale)

    def _one(self, seen: Sequence[np.ndarray]) -> np.ndarray:
        self.fits &= np.logical_or.reduce(seen)
        return np.asarray(np.argmax(seen, axis=0))

    def _back(self) -> tuple[np.ndarray, np.ndarray]:
        letters = self._words[self.at - _WORD] ^ _ZEROS
        digits = _digits(letters.byteswap())
        self.at = self.at - digits
        unread = _unread(digits)
        return _value(letters >> unread << unread), digits


def _digits(letters: np.ndarray) -> np.ndarray:
    """With how many digits, less the letter 0, each begins; 0 where none or eight are there."""
    others = (letters + _TO_HIGH | letters) & _HIGH
    first = (others & (~others + _U(1))) >> _U(7)
    return np.asarray(first * _PLACES >> _U(56), np.int64)


def _unread(digits: np.ndarray) -> np.ndarray:
    """The bits of a word that these digits leave."""
    return np.asarray(_U(64) - digits.astype(_U) * _U(8))


def _value(digits: np.ndarray) -> np.ndarray:
    """The number of eight digits, the first in the lowest byte: two, four and all of them together."""
    for times, bits, mask in _PAIRS:
        digits = (digits * times + (digits >> bits)) & mask
    times, bits, mask = _HALVES
    return np.asarray((digits * times + (digits >> bits)) & mask, np.int64)
