#!/usr/bin/env python3
"""The page at / in headless Chromium: answers come in pieces, can be stopped, and say how fast they were."""
import pathlib
import re
import shutil
import sys
import threading

sys.path.append(str(pathlib.Path(__file__).parents[1] / "bindings"))
from server_case import LONG, Server, skip, wait_for  # noqa: E402  # pylint: disable=wrong-import-position
from web_example import browser_of, check  # noqa: E402  # pylint: disable=wrong-import-position

# Presses Stop when an answer has some text and is not yet at its end.
WATCH = """
new MutationObserver(() => {
  const box = [...document.querySelectorAll(".assistant")].pop();
  if (window.stopAt && box && box.textContent.length > window.stopAt && !document.querySelector("#stop").hidden) document.querySelector("#stop").click();
}).observe(document.querySelector("#log"), { childList: true, subtree: true, characterData: true });
"""


def run(browser, script):
    return browser.call("POST", browser.session + "/execute/sync", script=script, args=[])


def check_answers(browser):
    for i, line in enumerate(("Do you have a room?", "<b>What</b> is your name?"), 1):
        browser.write("#line", line + "\n")
        notes = browser.wait_for(".note", i)
        check("what was typed is shown as text", browser.texts(".user")[-1] == line, browser.texts(".user"))
        check("the answer is shown", len(browser.texts(".assistant")[-1]) > 3, browser.texts("body"))
        check("and its speed", re.search(r"^\d+ tokens, \d+\.\d tokens/s, prompt of \d+$", notes[-1]), notes)
    check("the second prompt has the first conversation", int(notes[1].split()[-1]) > int(notes[0].split()[-1]) + 10, notes)


class Others:
    """Clients beside the page, with whom answers take long enough to be stopped."""

    def __init__(self, server, n):
        self.server, self.ends = server, threading.Event()
        self.threads = [threading.Thread(target=self.ask) for _ in range(n)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def ask(self):
        while not self.ends.is_set():
            self.server.post("/v1/completions", LONG)


def check_stop(browser, server):
    before = server.metrics()["inlay_requests_left_total"]
    run(browser, "window.stopAt = 5")
    for i in range(3, 23):  # a short answer may be there before it can be stopped
        browser.write("#line", "Tell me a long story.\n")
        note = browser.wait_for(".note", i)[-1]
        check("the page takes the next line", browser.texts("#stop[hidden]") == ["Stop"])
        if note.startswith("stopped: "):
            break
    check("an answer was stopped, which had come in pieces", note.startswith("stopped: "), note)
    wait_for(lambda: server.metrics()["inlay_requests_left_total"] > before, "the server ends its work")


def check_new_and_errors(browser):
    run(browser, "window.stopAt = 0")
    browser.click("#new")
    wait_for(lambda: browser.texts("#log div") == [], "a new conversation is empty")
    browser.write("#line", "Hello. " * 600 + "\n")
    note = browser.wait_for(".note", 1)[-1]
    check("a refusal is shown", "token" in note and browser.texts(".error") == [note], note)
    browser.write("#line", "Hello.\n")
    check("and the conversation goes on", "tokens/s" in browser.wait_for(".note", 2)[-1], browser.texts(".note"))
    others = [problem for problem in browser.problems() if "400" not in problem["message"]]
    check("the page has no errors", others == [], others)


def check_key(browser, server):
    browser.open(server.address("/"))
    wait_for(lambda: browser.texts("#key-label:not([hidden])"), "a key is asked for")
    browser.write("#key", "secret\t")
    wait_for(lambda: browser.texts("#model") == ["tales"], "the key is taken")
    browser.write("#line", "Hello.\n")
    check("an answer with a key", "tokens/s" in browser.wait_for(".note", 1)[-1], browser.texts(".note"))


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        skip("needs Chromium: no chromium with chromedriver")
    open_one, with_key = Server("--parallel", 32), Server(environment={"INLAY_API_KEY": "secret"})
    try:
        with browser_of(driver, chromium) as browser:
            browser.open(open_one.address("/"))
            wait_for(lambda: browser.texts("#model") == ["tales"], "the page names the model")
            run(browser, WATCH)
            check_answers(browser)
            with Others(open_one, 24):
                check_stop(browser, open_one)
            check_new_and_errors(browser)
            check_key(browser, with_key)
    finally:
        ended = open_one.stop(), with_key.stop()
    check("the servers end well", ended == (0, 0), ended)
    print("browser: the page in Chromium")


if __name__ == "__main__":
    main()
