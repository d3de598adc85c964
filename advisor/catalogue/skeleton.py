"""Write a valid rule file to start from."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from advisor.catalogue.load import Catalogue
from advisor.catalogue.rule import FAMILIES, RETIRED
from advisor.errors import UsageError
from advisor.writing import write_whole

_ID = re.compile(r"[A-Z]{2}\d{3}")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def write_new(id: str, slug: str, directory: Path, known: Catalogue) -> Path:
    """Write the file of a new rule below `directory`, in its family's folder where that is there, and return its path.

    UsageError where the id or the slug is none, or the id is taken, there too.
    """
    _refuse(id, known)
    if not _SLUG.fullmatch(slug):
        raise UsageError(
            f"--slug {slug}", "is no short name", "write lower-case words with hyphens, such as small-files"
        )
    if not directory.is_dir():
        raise UsageError(
            f"--rules {directory}", "there is no such directory", "create it, or give the directory of your rules"
        )
    folder = directory / FAMILIES.get(id[:2], "")
    place = (folder if folder.is_dir() else directory) / f"{id}-{slug}.yaml"
    if there := next(directory.rglob(f"{id}-*.yaml"), None):
        raise UsageError("rules new", f"{id} is taken: {there}", "give another id, or change that file")
    write_whole(place, skeleton(id, slug))
    return place


def skeleton(id: str, slug: str) -> str:
    """The text of a rule with this id that passes the check and answers its own examples."""
    text = (files("advisor.catalogue") / "skeleton.yaml").read_text(encoding="utf-8")
    for name, value in (("id", id), ("slug", slug), ("step", f"{id.lower()}-{slug}")):
        text = text.replace(f"{{{name}}}", value)
    return text


def _refuse(id: str, known: Catalogue) -> None:
    would_do = (
        f"{free(id[:2], known)} is free" if _ID.fullmatch(f"{id[:2]}000") else "write two letters and three digits"
    )
    if not _ID.fullmatch(id):
        raise UsageError("rules new", f"{id!r} is not a rule id", would_do)
    given = known.rules[id].title if id in known.rules else RETIRED.get(id)
    if given:
        raise UsageError("rules new", f"{id} is taken: {given}", would_do)


def free(letters: str, known: Catalogue) -> str:
    """Return the first id of these letters that no rule has or had."""
    taken = {*known.rules, *RETIRED}
    return next(id for number in range(1, 1000) if (id := f"{letters}{number:03}") not in taken)
