"""Ask one web server and no other: limits on size and time, credentials from the environment, a line for each fault."""

from __future__ import annotations

import logging
import netrc
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
import urllib3
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from advisor.errors import InputError
from advisor.redaction import redact
from advisor.sources.answering import within
from advisor.sources.paths import holds_credential

LARGEST: Final = 64 << 20
"""Bytes of a page or an answer: a thousand stages are 4 MB."""
LARGEST_LOG: Final = 8 << 30
SECONDS: Final = 30.0
"""For one page or answer, however it comes."""
SECONDS_OF_ALL: Final = 60.0
"""For all that is asked in one look."""
QUIET_SECONDS: Final = 5.0
"""After which somebody is told what is waited for."""
SECONDS_OF_A_LOG: Final = 600.0
_CONNECT_SECONDS: Final = 10.0
_PIECE: Final = 256 << 10
_REDIRECTS: Final = 5
_REDIRECTED: Final = (301, 302, 303, 307, 308)
_OF_HISTORY: Final = re.compile(r"(https?://.*?)/history/(\w[\w.-]*(?:/\d+(?=/|$))?)", re.IGNORECASE)
"""An application may be followed by the number of one of its attempts."""
_PAGE: Final = re.compile(r"/(?:StreamingQuery|jobs|stages|SQL|environment|executors|storage)(?:[/?#].*)?$")
"""A page of Spark's UI, as a browser's address names it."""
_OF_SSL: Final = re.compile(r"\[SSL: (\w{1,80})\]")
_OF_HEADERS: Final = re.compile(r"[ -~\xa0-\xff]*")
_TITLE: Final = re.compile(r"<title>([^<]{1,200})</title>", re.IGNORECASE)
TOKEN, USER, PASSWORD = "LATENCY_ADVISOR_TOKEN", "LATENCY_ADVISOR_USER", "LATENCY_ADVISOR_PASSWORD"
"""Variables of the environment that hold a bearer token, or a name and its password."""
_LOGIN: Final = f"set {TOKEN}, or {USER} and {PASSWORD}, or name the host in ~/.netrc"
_OWN_PAGES: Final = "give the address of a Spark driver's UI or of a History Server"
_OPENS: Final = ("/jobs", "/stages")
"""The answers that are large, and can be done without."""
_LOG: Final = logging.getLogger(__name__)
_T = TypeVar("_T")


class Absent(InputError):  # noqa: N818 - what the server says of the page
    """The server answers, and has no such page."""


def parted(address: str) -> tuple[str, str | None]:
    """Return (the address below which all pages lie, the application of a History Server that it names)."""
    history = _OF_HISTORY.match(address)
    return (history[1], history[2]) if history else (_PAGE.sub("", address), None)


class Server:
    """The web server that an address names, and what lies below that address."""

    def __init__(self, address: str) -> None:
        """Raises InputError for an address that no server can have, or that holds a credential."""
        try:
            parts = urlsplit(address)
            host, self._origin = parts.hostname, _origin(address)
        except (ValueError, LocationParseError):
            host = None
        if holds_credential(address) or (host and parts.username):
            raise InputError(redact(address), "the address contains a credential", f"remove it: {_LOGIN}")
        if not host:
            raise InputError(redact(address), "is no address of a web server", "give http://HOST:PORT")
        authority = os.environ.get("SSL_CERT_FILE", "")
        if parts.scheme.lower() == "https" and Path(authority).is_fifo():  # it would be waited for, without an end
            raise InputError(authority, "is a pipe", "name a file with your own CA in SSL_CERT_FILE")
        self.host = host
        self.address = f"{parts.scheme.lower()}://{parts.netloc}{parts.path}".rstrip("/")
        self.bytes = 0
        """Read so far."""
        self._told = False
        self.begin(SECONDS_OF_ALL)
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=SECONDS), retries=False, maxsize=1
        )
        self._connection: Any = None
        """The only one, or the last one that was made."""

    def begin(self, seconds: float) -> None:
        """Begin to ask: all that is asked from now on may take so long, until this is called again."""
        self._begun, self._until = time.monotonic(), time.monotonic() + seconds

    def page(self, path: str, heading: str = "") -> str:
        """Return a page below the address. Raises Absent, and InputError for a page without this heading."""
        answer = self.raw(path)
        if heading.encode() not in answer:
            raise self._foreign(answer)
        return answer.decode("utf-8", "replace")

    def json(self, path: str, kind: type[_T]) -> _T:
        """Return an answer of Spark's REST interface; InputError where it is none of Spark's."""
        answer = self.raw(f"api/v1/{path}")
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError:
            raise self._foreign(answer) from None

    def save(self, path: str, file: BinaryIO) -> None:
        """Write an answer of the REST interface into a file: an event log may be large."""
        self._ask(f"api/v1/{path}", file.write, LARGEST_LOG, SECONDS_OF_A_LOG)

    def raw(self, path: str) -> bytes:
        """Return what the server answers, as it comes."""
        pieces: list[bytes] = []
        self._ask(path, pieces.append, LARGEST, SECONDS)
        return b"".join(pieces)

    def _ask(self, path: str, take: Callable[[bytes], Any], most: int, seconds: float) -> None:
        """Let `take` have an answer piece by piece, on a thread: whatever drips, the time is over in time."""
        now = time.monotonic()
        seconds = max(0.0, min(seconds, self._until - now))
        late = TimeoutError(f"did not answer within {now + seconds - self._begun:.0f} s")
        leave_out = "; --no-stages asks for less" if path.endswith(_OPENS) else ""
        words = f"{self.address} is slow: waiting for {path}, at most {seconds:.0f} s{leave_out}"
        quiet = max(0.0, self._begun + QUIET_SECONDS - now)
        ask = partial(self._take, f"{self.address}/{path}", take, most, now + seconds, late)
        try:
            within(ask, seconds, late, quiet, partial(self._tell, words))
        except TimeoutError as error:
            with suppress(OSError, AttributeError):  # the thread may read on: each letter of a header gives it time
                self._connection.sock.shutdown(socket.SHUT_RDWR)
            busy = f"is the driver busy, or something else at this port?{leave_out}"
            raise InputError(self.address, str(error), busy) from None
        except urllib3.exceptions.HTTPError as error:
            raise InputError(
                self.address, _why(error), "check host and port, and that a port-forward is open"
            ) from None

    def _tell(self, words: str) -> None:
        """Tell it once; a core that knows no terminal logs it, and Python shows it on standard error."""
        if not self._told:
            self._told = True
            _LOG.warning("latency-advisor: %s", words)

    def _connect(self, make: Callable[..., Any], **named: Any) -> Any:
        self._connection = make(**named)
        return self._connection

    def _take(self, url: str, take: Callable[[bytes], Any], most: int, until: float, late: TimeoutError) -> None:
        taken = 0
        if time.monotonic() >= until:  # nobody is left to hang up
            raise late
        for piece in self._pieces(url):
            taken += len(piece)
            if taken > most:
                raise InputError(self.address, f"an answer is larger than {most >> 20:,} MB", _OWN_PAGES)
            if time.monotonic() > until:
                raise late
            self.bytes += len(piece)
            take(piece)

    def _pieces(self, url: str) -> Iterator[bytes]:
        headers = {"Accept-Encoding": "identity", **self._credentials()}
        for _ in range(_REDIRECTS):
            pool = self._pool.connection_from_url(url)
            if not isinstance(pool.ConnectionCls, partial):
                pool.ConnectionCls = partial(self._connect, pool.ConnectionCls)  # type: ignore[assignment]
            with self._pool.request("GET", url, headers=headers, redirect=False, preload_content=False) as response:
                if response.status not in _REDIRECTED:
                    self._refuse(response.status, url.removeprefix(self.address))
                    while piece := response.read1(_PIECE, decode_content=False):  # packed, it may hold gigabytes
                        yield piece
                    return
                url = self._own(url, response.headers.get("Location", ""))
        raise InputError(self.address, "redirects in a circle", _OWN_PAGES)

    def _own(self, asked: str, location: str) -> str:
        """Return the address of a redirect; InputError where it leads to another server."""
        try:
            url = urljoin(asked, location)
            origin = _origin(url)
        except (ValueError, LocationParseError):
            raise InputError(self.address, "redirects to what is no address", _OWN_PAGES) from None
        if origin != self._origin:
            found = f"redirects to {origin}"
            give = f"only the host that you name is asked: name that one, or {_LOGIN}"
            raise InputError(self.address, found, give)
        return url

    def _refuse(self, status: int, path: str) -> None:
        if status in (401, 403, 407):
            raise InputError(self.address, f"asks for a login ({status})", _LOGIN)
        if status == 404:
            raise Absent(self.address, "has no such page (404)", _OWN_PAGES)
        if status >= 400:
            found = f"answers {path} with an error ({status})"
            raise InputError(self.address, found, "try again, or look at the driver's log")

    def _credentials(self) -> dict[str, str]:
        """Return the headers that log in; none where neither the environment nor a netrc file knows the host."""
        token, name, password = (os.environ.get(one, "").rstrip("\r\n") for one in (TOKEN, USER, PASSWORD))
        if not (token or name):
            name, password = _from_netrc(self.host or "")
        if not _OF_HEADERS.fullmatch(token + name + password):  # an error of the web client would repeat it
            raise InputError(self.address, "its login holds a letter that no header can", _LOGIN)
        if token:
            return {"Authorization": f"Bearer {token}"}
        return urllib3.make_headers(basic_auth=f"{name}:{password}") if name else {}

    def refuse_page(self, place: Path) -> None:
        """Raise InputError where a file holds a page of HTML: what a server in front of Spark answers."""
        with place.open("rb") as file:
            head = file.read(4096)
        if head.lstrip()[:1] == b"<":
            raise self._foreign(head)

    def _foreign(self, answer: bytes) -> InputError:
        title = _TITLE.search(answer[:4096].decode("utf-8", "replace"))
        called = f", but '{redact(unescape(title[1].strip()[:80]))}'" if title else ""
        if b'type="password"' in answer or b"type='password'" in answer:
            return InputError(self.address, f"shows a login page{called}", _LOGIN)
        return InputError(self.address, f"is no page of Spark's UI{called}", _OWN_PAGES)


def _origin(address: str) -> str:
    """Return scheme, host and port as the web client reads them: of odd letters another reader sees another host."""
    parts = parse_url(address)
    return f"{parts.scheme}://{parts.host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _from_netrc(host: str) -> tuple[str, str]:
    """Return (name, password) of a host from ~/.netrc, or from the file in NETRC; empty where they do not name it."""
    place = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    if not place.is_file():
        return "", ""
    try:
        found = netrc.netrc(str(place)).authenticators(host)
    except (netrc.NetrcParseError, UnicodeDecodeError, OSError) as error:
        words = getattr(error, "msg", None) or getattr(error, "strerror", None) or "cannot be read"
        raise InputError(str(place), str(words), "repair the file, or name another one in NETRC") from None
    return (found[0] or "", found[2] or "") if found else ("", "")


def _why(error: urllib3.exceptions.HTTPError) -> str:
    """Return in a few words why nobody answered."""
    said = str(error.args[-1] if error.args else error)
    for mark, words in _WORDS.items():
        if mark in said:
            return f"{words}{_own_authority()}" if mark == "CERTIFICATE_VERIFY_FAILED" else words
    reason = _OF_SSL.search(said)
    return f"cannot be read ({reason[1] if reason else type(error).__name__})"


def _own_authority() -> str:
    """Return why the file in SSL_CERT_FILE does not help; nothing where it can be read."""
    place = os.environ.get("SSL_CERT_FILE")
    try:
        if place and Path(place).is_file():
            ssl.create_default_context(cafile=place)
    except OSError as error:
        return f", but in {place} is none ({error.strerror or type(error).__name__})"
    return "" if place is None or Path(place).is_file() else f", but {place} is no file"


_WORDS: Final = {
    "Connection refused": "nobody listens there (connection refused)",
    "mismatch": "its certificate is for another host; give the address with the name that the certificate has",
    "certificate has expired": "its certificate has expired; renew it, or set this machine's clock",
    "not yet valid": "its certificate is not valid yet; set this machine's clock",
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not trusted; SSL_CERT_FILE names the file of your own CA",
    "WRONG_VERSION_NUMBER": "it speaks no https; try http://",
    "\x15\x03": "it speaks https; try https://",
    "PROTOCOL": "it speaks a version of TLS that is refused here; ask it through a port-forward",
    "CERTIFICATE_REQUIRED": "it asks for a client's certificate, which cannot be given; ask it through a port-forward",
    "resolve": "no such host",
    "timed out": "did not answer in time",
    "IncompleteRead": "the answer broke off: is the driver gone?",
    "Connection aborted": "the connection broke off: is the driver gone, or does it speak https?",
    "reset": "the connection broke off: is the driver gone, or does it speak https?",
}
