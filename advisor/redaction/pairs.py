"""Credentials that follow their name: name=value, "name": "value", (name,value), <name>value</name>, --name value.

A value that is quoted ends with its quote. Any other ends before the next name with a value, so that a password may
hold what elsewhere ends one; one that is no password ends at a blank, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from advisor.redaction.forms import REDACTED
from advisor.redaction.names import is_secret_name, may_be_a_number, may_hold_blanks, may_name_a_secret

Form: TypeAlias = Callable[[str, int], "re.Match[str] | None"]

# As text writes it, and as JSON, a spreadsheet, HTML, an address and a word processor do.
_OF_HTML: Final = r"&(?:quot|apos|#34|#39|#x2[27]);"
_OF_ADDRESS: Final = r"%(?:25)?2[27]"
_QUOTE: Final = rf"(?:\\{{0,7}}[\"']|\"\"|''|`|[“”‘’]|{_OF_HTML}|{_OF_ADDRESS})"
_ADJECTIVE: Final = r"(?:(?i:access|account|api|client|encryption|mot de|private|secret|session|shared|signing) )?"
# A lookahead with a reference back to it takes the whole name or nothing: no second try from its middle.
# What an address escapes before a name is no part of it.
_NAME: Final = rf"(?<![\w.\-/])(?:(?<=%)(?:25)?[2-7][0-9A-Fa-f])?(?=(?P<name>{_ADJECTIVE}[\w.\-/]+))(?P=name)"
_BLANKS: Final = r"(?:\s|%20){0,9}"
_SIGNS: Final = r"[-=](?:>|&gt;)|[:+?=]?=|:(?![/:])|[＝：→⇒]|(?:%(?:25){0,3}|\\{1,7}(?:u00|x))3[dDaA]|&(?:#61|equals);"
_SIGN: Final = rf"{_BLANKS}(?P<sign>{_SIGNS}){_BLANKS}(?:[|>][-+]?\s{{1,9}})?"
_NEXT: Final = (
    r"[\s,;&|]{1,3}[\\\"'(\[{<]{0,3}[\w.\-/]{1,100}(?:\[[\\\"']{0,3}[\w.\-]{1,100}[\\\"']{0,3}\])?[\\\"']{0,3}\s{0,2}"
)
# What may stand between a name and its value: type: plain
_MEMBERS: Final = (
    rf"(?:,?\s{{0,9}}{_QUOTE}?\b(?!value\b|name\b)\w{{1,40}}{_QUOTE}?\s?[:=]\s?"
    rf"{_QUOTE}?[\w./-]{{0,80}}{_QUOTE}?){{0,3}}"
)
_CLOSING: Final = r"[)\]}>\"']{1,4}(?=[\s,;]|$)"
_END: Final = re.compile(rf"{_CLOSING}|{_NEXT}(?:->|=>|[=:])|,\s?\(")
_END_OF_WORD: Final = re.compile(rf"\s|{_END.pattern}")
_END_OF_ARROW: Final = re.compile(rf"{_CLOSING}|{_NEXT}(?:->|=>)|,\s?\(")
_SCHEME: Final = re.compile(r"(?:(?:bearer|basic|digest|negotiate|token|apikey)|[\w.@-]{1,80}\s/)\s+", re.IGNORECASE)
_TRAILING: Final = ")]}>\"',;"
# SQL doubles a quote that stands inside.
_QUOTED: Final = re.compile(
    r"(?P<quote>[\"'])(?P<inside>(?:[^\"'\\]|\\.|(?P=quote){2}|(?!(?P=quote))[\"'])*)", re.DOTALL
)
_ESCAPED: Final = re.compile(
    rf"(?P<quote>\\{{1,7}}[\"']|{_OF_HTML}|{_OF_ADDRESS})(?P<inside>.*?)(?:(?<!\\)(?P=quote)|$)", re.DOTALL
)
_DOUBLED: Final = re.compile(r"(?P<quote>\"\"|'')(?P<inside>.*?)(?:(?P=quote)|$)", re.DOTALL)
_LISTED: Final = re.compile(r"(?P<open>[\[{])(?P<inside>.*?)(?:[\]}](?=[\s,;)\]}&]|$)|$)", re.DOTALL)
_TUPLE: Final = re.compile(r"\((?P<inside>\*{9}\(redacted\)|\s?[\"'][^()]{1,300})(?=\)|$)")  # auth=("me", "...")
# Each number is taken as a whole: no second way to read the same digits.
_NUMBERS: Final = re.compile(r"[\[{](?:[\s,:]|\\{0,7}\"\d{1,10}\\{0,7}\":|-?\d{1,20}(?!\d))*[\]}]")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?=[\s,;)\]}]|$)")
_NO_CREDENTIAL: Final = re.compile(
    r"(?:no such [a-z ]{1,40}|permission denied"
    # Without a limit each name inside such a word is read to the word's end again.
    r"|true|false|null|none|nil|yes|no|not|on|off|missing|unset|expired|required|\d{1,2}|string|binary|kerberos|simple|basic|bearer|USER_INFO"
    r"|arn:aws[\w-]{0,20}:[\w-]{1,40}:[\w-]{0,40}:\d{0,20}:[\w/:.-]{1,300}|(?-i:(?:String|Binary|Struct|Array|Map)Type)(?:,(?:true|false))?|\**)(?=[\s,;&)\]}>\"']|$)",
    re.IGNORECASE,
)
_OF_FUNCTION: Final = re.compile(r"(?:[A-Za-z_][\w.]{0,100})?\((?:[\w\s,.:=*\[\]]{0,300})\)")  # f(x: int)
_OF_COOKIE: Final = re.compile(r"[^\"',\]})]*")
_OF_ELEMENT: Final = re.compile(r"(?:<!\[CDATA\[(?:[^\]]|\](?!\]>)){0,500}\]\]>|[^<]*)(?=</)")
_OF_ESCAPED_ELEMENT: Final = re.compile(r"[^&<]*(?:&(?!lt;)[^&<]*)*(?=&lt;/)")
_OF_PAIR: Final = re.compile(r".*?(?=\)(?:[\s,;)\]}]|$)|$)", re.DOTALL)
_OF_LIST: Final = re.compile(r"[^\s,\[\]]+(?=\])")
_OF_COMMAND: Final = re.compile(r"(?!(?:and|are|cannot|is|must|needs?|not|option|or|requires?|was)\b)[^\s\"']+")

# What a text must hold for a form to be tried, how the form begins, and how its value stands: `_ANY` is in quotes, in
# brackets or bare.
_ANY: Final[tuple[Form, ...]] = ()
_IN_QUOTES: Final = (_QUOTED.match, _ESCAPED.match)
_WORD: Final = (*_IN_QUOTES, _OF_COMMAND.match)
_FORMS: Final = tuple((needs.split("|"), re.compile(opening), value) for needs, opening, value in (
    # {"name": "DB_PASSWORD", "value": "..."}, <property name="password" value="..."/>
    ("value", rf"\b(?i:name|key){_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?(?P<name>[\w.\-/]{{1,200}}){_QUOTE}?"
              rf"{_MEMBERS},?\s{{0,9}}(?P<quote>{_QUOTE})?(?i:value){_QUOTE}?\s{{0,3}}(?P<sign>[:=])\s{{0,3}}", _ANY),
    # {"value": "...", "name": "DB_PASSWORD"}
    ("value", rf"(?P<quote>{_QUOTE})(?i:value){_QUOTE}\s{{0,3}}(?P<sign>:)\s{{0,3}}"
              rf"(?=\\{{0,7}}[\"'][^\"']{{0,300}}[\"']{_MEMBERS},\s{{0,9}}{_QUOTE}(?i:name|key){_QUOTE}"
              rf"\s{{0,3}}:\s{{0,3}}{_QUOTE}(?P<name>[\w.\-/]{{1,200}}))", _ANY),
    ("value", r"<(?P<name>[\w.\-]{1,100})\s(?:[^<>]{0,300}\s)?(?i:value)\s?=\s?(?=[\"'\\&])", _IN_QUOTES),
    ("</", r"(?i:<(?:name|key))>\s{0,3}(?P<name>[\w.\-/]{1,200})\s{0,3}(?i:</(?:name|key)>\s{0,9}<(?:value|string))>",
     (_OF_ELEMENT.match,)),
    ("</", r"<(?:[\w\-]{1,50}:)?(?P<name>[\w.\-]{1,100})(?:\s[^<>]{0,300})?>", (_OF_ELEMENT.match,)),
    ("</", r"<[\w\-]{1,50}\s(?i:name|key)=[\"'](?P<name>[\w.\-]{1,200})[\"']>", (_OF_ELEMENT.match,)),
    ("&lt;/", r"&lt;(?P<name>[\w.\-]{1,100})&gt;", (_OF_ESCAPED_ELEMENT.match,)),
    ("(", rf"\({_NAME},\s?", (_OF_PAIR.match,)),
    ("[", rf"(?<!\w)\[{_NAME},\s?", (_OF_LIST.match,)),
    # password { value: "..." }
    ("value", rf"{_NAME}\s?\{{\s{{0,3}}value\s?:\s{{0,3}}", _IN_QUOTES),
    # .option("password", "..."), OPTIONS ('password' '...'), setPassword("...")
    ("(", rf"\(\s{{0,99}}{_QUOTE}(?P<name>[\w.\-/]{{1,200}}){_QUOTE}(?:,\s{{0,99}}|\s{{1,3}})", _IN_QUOTES),
    ("(", r"\b(?!get|is|has)(?P<name>\w{1,100})\(\s?", _IN_QUOTES),
    ("", rf"{_NAME}(?P<quote>{_QUOTE})?{_SIGN}", _ANY),
    # os.environ["DB_PASSWORD"] = "..."
    ("]", rf"\[(?P<quote>{_QUOTE})?(?P<name>[\w.\-/]{{1,200}}){_QUOTE}?\]{_SIGN}", _ANY),
    ("-", r"(?<![\w\-])--?(?P<name>[A-Za-z][\w.\-]{0,99})\s{1,3}(?!-)", _WORD),
    # ["--password", "..."]
    ("--", rf"--(?P<name>[A-Za-z][\w.\-]{{0,99}}){_QUOTE},\s{{0,3}}", _IN_QUOTES),
    # PASSWORD '...', SET PASSWORD FOR me = '...', password is "..."
    ("password|passphrase|secret|token", r"(?i:\b(?P<name>password(?: for \S{1,100}\s{0,3}=)?"
     r"|(?:password|passphrase|secret|token)(?: is| was)(?: set to)?:?)\s{1,3})(?=[\"'\\&])", _IN_QUOTES),
    # SECRET_ACCESS_KEY '...'
    ("_", r"\b(?P<name>[A-Z]{1,30}(?:_[A-Z]{1,30}){1,5}(?<!S))\s{1,3}", _IN_QUOTES),
))  # fmt: skip


def hide_named(text: str) -> str:
    """Return `text` without the credentials that follow their name."""
    if may_name_a_secret(text):
        lowered = text.lower()
        for needs, opening, value in _FORMS:
            if any(word in lowered for word in needs):
                text = _hidden(text, opening, value)
    return text


def _hidden(text: str, opening: re.Pattern[str], value: tuple[Form, ...]) -> str:
    parts: list[str] = []
    at = searched = 0
    while found := opening.search(text, searched):
        searched = found.end()
        if is_secret_name(found["name"]) and not text.startswith(REDACTED, searched):
            start, end = _inside(value, text, searched) if value else _value(text, found)
            if not _is_harmless(text, start, end):
                parts += text[at:start], REDACTED
                at = searched = end
    return "".join([*parts, text[at:]])


def _is_harmless(text: str, start: int, end: int) -> bool:
    if start >= end or text.startswith(REDACTED, start):
        return True
    word = _NO_CREDENTIAL.match(text, start)
    return word is not None and word.end() >= end


def _inside(forms: tuple[Form, ...], text: str, at: int) -> tuple[int, int]:
    """Return where a value of the first of these forms stands; nowhere where it has none of them."""
    found = next(filter(None, (form(text, at) for form in forms)), None)
    return _span(found) if found else (at, at)


def _span(found: re.Match[str]) -> tuple[int, int]:
    return found.span("inside" if "inside" in found.re.groupindex else 0)


def _value(text: str, found: re.Match[str]) -> tuple[int, int]:
    """Return where the value after name and sign stands: inside quotes or brackets, or bare."""
    at, name = found.end(), found["name"]
    if _counts(text, at, found) or (name.lower().endswith("signature") and _OF_FUNCTION.match(text, at)):
        return at, at
    doubled = (_DOUBLED.match,) if found["quote"] in ('""', "''") else ()
    bare = (_OF_COOKIE.match,) if name.lower().endswith("cookie") else ()
    for form in (*doubled, _QUOTED.match, _ESCAPED.match, _LISTED.match, _TUPLE.match, *bare):
        if enclosed := form(text, at):
            return _span(enclosed)
    return at, _bare_end(text, at, found)


def _counts(text: str, at: int, found: re.Match[str]) -> bool:
    """Return whether numbers follow that are no password: offsets of a topic, or how many there are."""
    name = found["name"]
    counted = (found["quote"] or name.endswith("s")) and not may_be_a_number(name)
    return bool(_NUMBERS.match(text, at) or (counted and _NUMBER.match(text, at)))


def _bare_end(text: str, at: int, found: re.Match[str]) -> int:
    begin, ends = at, _END_OF_ARROW if found["sign"] in ("->", "=>") else _END
    if not may_hold_blanks(found["name"]):
        scheme, ends = _SCHEME.match(text, at), _END_OF_WORD
        begin = scheme.end() if scheme else at
    end = ends.search(text, begin)
    return at + len(text[at : end.start() if end else None].rstrip(_TRAILING))
