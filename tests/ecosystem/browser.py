"""A headless Chromium, driven through its own pipe: what a reader of a page sees, without a library for it.

Its protocol is JSON, each message ended by a zero byte, on the file descriptors 3 and 4. See
https://chromedevtools.github.io/devtools-protocol/.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Browser", "Page", "browser", "executable"]

LONGEST_SECS = 60.0


def executable() -> str | None:
    """Where Chromium is; None where there is none, or where its pipe cannot be given to it."""
    if sys.platform == "win32":
        return None
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


@dataclass
class Page:
    """One tab.

    Attributes:
        browser: Which it is in.
        target: Its id there.
        session: The id of the connection to it.
        complaints: What the console was told of errors, exceptions that nobody caught, and requests that failed.
    """

    browser: "Browser"
    target: str
    session: str
    complaints: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is loaded."""
        with self.loading():
            failed = self.browser.call("Page.navigate", self.session, url=url).get("errorText")
            assert not failed, f"{url}: {failed}"

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Wait at the end of the block until the page is loaded to which it leads."""
        events = self.browser.events
        events.clear()
        yield
        self.browser.wait_for(lambda: any(event["method"] == "Page.loadEventFired" for event in events))

    def close(self) -> None:
        """Close the tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)

    def run(self, script: str) -> Any:
        """What an expression of JavaScript gives."""
        done = self.browser.call("Runtime.evaluate", self.session, expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, script: str) -> Any:
        """What an expression gives once that is true."""
        return self.browser.wait_for(lambda: self.run(script))

    def write(self, text: str) -> None:
        """Type into what has the focus, and press Enter."""
        self.browser.call("Input.insertText", self.session, text=text)
        for kind in ("rawKeyDown", "char", "keyUp"):
            self.browser.call(
                "Input.dispatchKeyEvent", self.session, type=kind, key="Enter", text="\r", windowsVirtualKeyCode=13
            )

    def click(self, selector: str) -> None:
        """Click in the midst of the first element that a selector of CSS finds."""
        rectangle = self.until(f"document.querySelector({selector!r})?.getClientRects()[0]?.toJSON()")
        x, y = rectangle["x"] + rectangle["width"] / 2, rectangle["y"] + rectangle["height"] / 2
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call(
                "Input.dispatchMouseEvent", self.session, type=kind, x=x, y=y, button="left", clickCount=1
            )

    def look(self, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        """Have a window of a size, on a system that is light or dark."""
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            self.session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.browser.call("Emulation.setEmulatedMedia", self.session, features=[scheme])

    def screenshot(self, path: Path) -> bytes:
        """Write what is seen as a PNG, and give its bytes."""
        image = base64.b64decode(self.browser.call("Page.captureScreenshot", self.session)["data"])
        path.write_bytes(image)
        return image


class Browser:
    """A Chromium that runs."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._calls = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._pages: dict[str, Page] = {}
        self.events: list[dict[str, Any]] = []

    def page(self) -> Page:
        """A new tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session)
        page.look()
        return page

    def call(self, method: str, session: str | None = None, /, **parameters: object) -> dict[str, Any]:
        """Ask the browser for something, and wait for its answer."""
        self._calls += 1
        number = self._calls
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        answer = self.wait_for(lambda: self._answers.pop(number, None))
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def wait_for(self, found: Callable[[], Any]) -> Any:
        """What a function gives once that is true; meanwhile read what the browser tells."""
        deadline = time.monotonic() + LONGEST_SECS
        while not (value := found()):
            assert time.monotonic() < deadline, f"nothing in {LONGEST_SECS} seconds; at last {self.events[-3:]}"
            self._read(0.05)
        return value

    def _read(self, seconds: float) -> None:
        if not select.select([self._from], [], [], seconds)[0]:
            return
        read = os.read(self._from, 1 << 20)
        assert read, "the browser has ended"
        *messages, self._rest = (self._rest + read).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.events.append(message)
                self._note(message["method"], message["params"], self._pages.get(message.get("sessionId", "")))

    def _note(self, method: str, parameters: dict[str, Any], page: Page | None) -> None:
        if page is None:
            return
        if method == "Runtime.exceptionThrown":
            page.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            page.complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            page.complaints.append(str(parameters["entry"]))
        elif method == "Network.loadingFailed" and not parameters.get("canceled"):
            page.complaints.append(str(parameters))


@contextmanager
def browser(chromium: str, profile: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    to_browser, from_browser = os.pipe(), os.pipe()
    # The shell puts the pipes where the browser looks for them, and becomes the browser.
    script = f'exec "$@" 3<&{to_browser[0]} 4>&{from_browser[1]}'
    arguments = [
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--hide-scrollbars",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    with (profile.parent / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            ["/bin/bash", "-c", script, "bash", *arguments],
            pass_fds=[to_browser[0], from_browser[1]],
            stdout=log,
            stderr=log,
        )
    os.close(to_browser[0])
    os.close(from_browser[1])
    running = Browser(to_browser[1], from_browser[0])
    try:
        yield running
    finally:
        # Closing its pipe ends it, with all its processes.
        os.close(to_browser[1])
        os.close(from_browser[0])
        try:
            process.wait(LONGEST_SECS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
