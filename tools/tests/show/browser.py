"""A headless Chromium, by WebDriver (W3C) over HTTP: what tests of pages need, in the standard
library alone. Needs chromium and chromedriver (Debian: chromium, chromium-driver).
"""
import base64
import http.client
import json
import os
import shutil
import subprocess

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "home": "\ue011",
        "end": "\ue010", "escape": "\ue00c"}


def programs():
    """The browser and its driver, or None."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
        "google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    def __init__(self, folder, is_dark=False, size=(1280, 840)):
        browser, driver = programs()
        self.driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, cwd=folder)
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = int(line.rstrip(". \n").rsplit(" ", 1)[1])
                break
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--user-data-dir=" + os.path.join(folder, "profile"),
                     "--window-size=%d,%d" % size]
        if is_dark:
            arguments.append("--force-dark-mode")
        self.session = None
        self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"binary": browser, "args": arguments}}}})["sessionId"]

    def ask(self, method, path, body=None):
        prefix = "/session/" + self.session if self.session else ""
        self.connection.request(method, prefix + path, json.dumps(body or {})
                                if method == "POST" else None,
                                {"Content-Type": "application/json"})
        value = json.loads(self.connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError("%s: %s" % (value["error"], value["message"]))
        return value

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + path})

    def run(self, script, *arguments):
        """A script's result; each of these is one function of the page."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys):
        """Real key strokes, at whatever has the focus."""
        strokes = []
        for key in keys:
            value = KEYS.get(key, key)
            strokes += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys",
                                                   "actions": strokes}]})

    def click_at(self, x, y):
        self.ask("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}]})

    def click(self, selector):
        element = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        self.ask("POST", "/element/%s/click" % element[ELEMENT], {})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def log(self, kind="browser"):
        return self.ask("POST", "/se/log", {"type": kind})

    def close(self):
        try:
            if self.session:
                self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
