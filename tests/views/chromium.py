"""A page opened in the Chromium of this machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
LONGEST_MS = 300_000
"""The longest wait for something that comes: a machine under load is slow."""


class Opened:
    """A page with what it asked for and complained about."""

    def __init__(self, context: Any, path: Path) -> None:
        self.page = context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(path.as_uri())
