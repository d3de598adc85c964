"""Read one file's bytes into events, broken places and sightings, whatever its format."""

from __future__ import annotations

from collections.abc import Callable

from advisor.batches import Broken, Chunks
from advisor.errors import InputError
from advisor.facts import Sighting
from advisor.sources.codecs import NOT_READ, PACKED_HEAD, Torn, how_to_unpack
from advisor.sources.envelopes import IN_PART, TOO_LARGE, Octets, Whole, export_in, exported, is_export, refuse_unknown
from advisor.sources.formats import HEAD, Format, format_of, records
from advisor.sources.harvest import Harvest, Stretch
from advisor.sources.opening import HISTORY, read_windows, rest_of
from advisor.sources.paths import why
from advisor.sources.sightings.errors import LONGEST, sight_stack_trace
from advisor.sources.sightings.stretches import Memory, SecondLook
from advisor.sources.stages.stagetables import StageTables

_HEAD = 16 << 10


class Scan:
    """Reads one file, window by window."""

    def __init__(
        self,
        file: str,
        log: str,
        memory: Memory | None = None,
        chunks: Chunks | None = None,
        opened: StageTables | None = None,
    ) -> None:
        """With a `memory` (one per log), sightings are looked for, too.

        With `opened`, the tables to fill, jobs, stages and tasks are read. Events go to `chunks`, if there are some.
        """
        self.harvest = Harvest(file, log, memory.runs if memory else None, chunks)
        self._look = SecondLook(file, log, memory) if memory else None
        self._opened = opened
        self._log = log
        self._format: Format | None = None
        self._grows = True
        self._export: Octets | Whole | None = None
        self._rest = Stretch(b"", 0, 0, False)
        """What of the text in an export is needed when more of it comes."""
        self.position = 0
        self._failed: list[Broken] = []
        self._unpack: str | None = None
        """What to do with the file if it is packed, once its beginning was read."""
        self.head = b""
        """How a file begins in which nothing was found."""
        self.pasted_error: list[Sighting] = []
        """How a query ended whose stack trace is all that the file holds."""

    @property
    def sightings(self) -> list[Sighting]:
        """What the file revealed besides progress, so far."""
        return self._look.sightings if self._look else []

    @property
    def broken(self) -> list[Broken]:
        """What could not be read of the file, so far."""
        give = None if self.harvest.anything else self._unpack
        packed = [Broken(self.harvest.file, 0, 0, f"{NOT_READ}it is packed; {give}")] if give else []
        cut = [Broken(self.harvest.file, self._export.cut, 0, TOO_LARGE)] if self._export and self._export.cut else []
        return [*self._failed, *packed, *cut, *self.harvest.broken]

    def read(self, path: str, *, history: bool, reached: Callable[[int], None] = lambda _: None) -> int:
        """Read the whole file at `path`, and return how many bytes it held; `reached` hears how far it is read.

        With `history` a window reaches some megabytes back.
        """

        self._grows = False

        def feed(window: Stretch) -> int:
            resume = self.feed(window)
            reached(window.base + len(window.buffer))
            return resume

        try:
            return read_windows(path, feed, history=history)
        except Torn as torn:
            self.harvest.flush()
            self._failed.append(Broken(self.harvest.file, self.position, 0, str(torn)))
        except (OSError, InputError) as error:
            self._failed.append(unread(self.harvest.file, error))
        return self.position

    def feed(self, window: Stretch) -> int:
        """Read a window; return how far it was read: the next window begins with the rest."""
        self.position = window.base + len(window.buffer)
        first = self._grows or self._format is None
        may_turn = b'"MESSAGE"' in self.head or not self.harvest.marked  # into an export, where it is a text
        if self._export is None and (first or (may_turn and self._format and not self._format.by_line)):
            if first and window.final and not window.base and (text := exported(window.buffer[:])) is not None:
                return self._read(Stretch(text, 0, 0, final=True, whole=text))
            self._export = None if first and window.final else export_in(window.buffer[:], self._grows or not first)
            self._rest = Stretch(b"", window.base + window.begin, 0, False)
        if self._export is None:
            return self._read(window)
        text = self._export.take(window.buffer[window.begin :], window.final)
        if text or window.final:
            inside = self._rest._replace(buffer=self._rest.buffer[:] + text, final=window.final)
            self._rest = rest_of(inside, self._read(inside), HISTORY)
        return len(window.buffer)

    def _read(self, window: Stretch) -> int:
        self.harvest.move(window)
        if self._format is None:
            self.head = bytes(window.buffer[:_HEAD])
            self._unpack = how_to_unpack(bytes(window.buffer[:PACKED_HEAD]))
            self._format = format_of(bytes(window.buffer[:HEAD]))
            if self._grows and not window.final and is_export(window.buffer[:]):
                self.harvest.add_broken(0, IN_PART)
            if not (self._grows or self._format.by_line):
                refuse_unknown(window.buffer)
        resume = self._format.reads(window.buffer, window.begin, window.final, self.harvest)
        if self._look:
            self._look.at(window, resume, self._format.tells)
        if self._opened:
            self._opened.read(self._format, self._log, self.harvest, window, resume)
        if window.final:
            self._finish(window)
        return resume

    def look_at_end(self, window: Stretch) -> None:
        """What stands at the end of a file that still grows; it is looked at again when more has come."""
        window = self._rest if self._export else window
        if self._look and self._format and not self._format.tells:
            self._look.at_log(window._replace(final=True), ())

    def _finish(self, window: Stretch) -> None:
        if self._format and not self._format.tells and not self.harvest.anything:  # an event log is no pasted text
            records.keep_piece(window.buffer, len(window.buffer), self.harvest)
            if self._look and not window.base and len(window.buffer) <= LONGEST and not self.harvest.anything:
                text = bytes(window.buffer[:]).decode("utf-8", "replace")
                self.pasted_error = sight_stack_trace(text, log=self._log, file=self.harvest.file)
        self.head = b"" if self.harvest.anything else self.head
        self.harvest.flush()


def unread(file: str, error: OSError | InputError) -> Broken:
    """The entry for a file that cannot be read, or not to its end."""
    return Broken(file, 0, 0, error.found if isinstance(error, InputError) else why(error))
