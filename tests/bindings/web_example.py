"""Builds the C# example `web`, or starts it on a free port and talks with it.

Usage: web_example.py build|http|browser DOTNET FOLDER MODEL
`build` builds it below FOLDER, for the others. `http` is a client of its own: streams, errors, many at a time, clients that leave. `browser` types into the page in headless Chromium.
"""
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

SKIPPED = 77
TIMEOUT = 900
PROJECT = pathlib.Path(__file__).parents[2] / "bindings/csharp/examples/web/web.csproj"
ROOM = [{"role": "system", "content": "Mira is a kind innkeeper at an inn in Oakvale."}, {"role": "user", "content": "Do you have a room?"}]
SESSIONS = 8
BLOCK = 32  # tokens: what is known of a conversation is known in whole blocks


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def check(what, holds, said=""):
    if not holds:
        raise AssertionError(f"{what}: does not hold\n{said}")


# ---- the server

def build(dotnet, folder):
    shutil.rmtree(folder / "out", ignore_errors=True)
    version = subprocess.run([dotnet, "--version"], capture_output=True, text=True, check=True).stdout
    runtime = ".".join(version.split(".")[:2])
    if f"Microsoft.AspNetCore.App {runtime}." not in subprocess.run([dotnet, "--list-runtimes"], capture_output=True, text=True, check=True).stdout:
        skip(f"needs ASP.NET Core: no runtime {runtime}")
    options = [f"-p:InlayTargets=net{runtime}", "-p:IsAotCompatible=false", "-p:TreatWarningsAsErrors=true", "--artifacts-path", folder / "made",
               "-v", "quiet", "-nodeReuse:false"]
    environment = os.environ | {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_CLI_UI_LANGUAGE": "en"}
    for command in (["restore", PROJECT], ["build", PROJECT, "--no-restore", "-o", folder / "out"]):
        done = subprocess.run([dotnet, *command, *options], capture_output=True, text=True, check=False, timeout=1800, env=environment)
        if done.returncode == 0:
            continue
        if command[0] == "restore" and re.search("error NU(1301|110[0-3])", done.stdout + done.stderr):
            skip("needs NuGet: it does not give the packages of Microsoft.Extensions.AI")
        sys.exit(f"dotnet {command[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


class Server:
    """The example, and what it logs."""

    def __init__(self, command):
        self.lines = []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        found = self.wait_for(r"Now listening on: http://127\.0\.0\.1:(\d+)")
        self.port = int(found.group(1))

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def wait_for(self, pattern, seconds=TIMEOUT):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := re.search(pattern, "".join(self.lines)):
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the server did not write {pattern}:\n{''.join(self.lines)}")

    def address(self, path):
        return f"http://127.0.0.1:{self.port}{path}"


@contextlib.contextmanager
def served(dotnet, folder, model):
    server = Server([dotnet, folder / "out/web.dll", model, "127.0.0.1:0"])
    try:
        yield server
        server.process.terminate()
        check("the server ends well", server.process.wait(TIMEOUT) == 0, "".join(server.lines))
    finally:
        server.process.kill()
        server.process.wait()
        server.reader.join()


# ---- an HTTP client

def post(server, body, kind="application/json"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.address("/chat"), data, {"Content-Type": kind})
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as refused:
        return refused


def events(response):
    """Each event of a stream as (name, data, when it came)."""
    name, data = "message", None
    for line in response:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            name = text[7:]
        elif text.startswith("data: "):
            data = json.loads(text[6:])
        elif not text:
            yield name, data, time.monotonic()
            name, data = "message", None
        else:
            raise AssertionError(f"no line of an event: {text}")
    check("the last event is whole", data is None, data)


def ask(server, messages):
    with post(server, {"messages": messages}) as response:
        check("status and type", (response.status, response.headers["Content-Type"]) == (200, "text/event-stream"), response.read)
        got = list(events(response))
    check("pieces, and one end", [name for name, _, _ in got] == ["message"] * (len(got) - 1) + ["end"] and len(got) > 3, got)
    text = "".join(data["text"] for _, data, _ in got[:-1])
    return text, got[-1][1], [when for _, _, when in got]


def are_apart(times):
    return len(set(times)) > 3 and times[-1] - times[0] > 0.001


def check_stream(server):
    for _ in range(5):  # on a busy machine this client may come to read when all of a short answer is there
        text, end, times = ask(server, ROOM)
        if are_apart(times):
            break
    check("an answer", len(text) > 10, text)
    check("its end", end["finishReason"] == "stop" and end["outputTokens"] > 3 and end["inputTokens"] > 10 and end["cachedInputTokens"] >= 0, end)
    check("pieces come one by one", are_apart(times), times)
    more = [*ROOM, {"role": "assistant", "content": text}, {"role": "user", "content": "What is your name?"}]
    _, next_end, _ = ask(server, more)
    check("a second turn runs only what is new", next_end["cachedInputTokens"] > end["inputTokens"] - BLOCK, (end, next_end))
    with urllib.request.urlopen(server.address("/"), timeout=TIMEOUT) as page:
        check("the page", page.headers["Content-Type"].startswith("text/html") and b"<form" in page.read())


def check_refusals(server):
    user = {"role": "user", "content": "Hello"}
    for body, reason in ((b"{", "path"), (b"", "JSON"), (b"[]", "JSON"), (b"null", "messages"), ({}, "messages"), ({"messages": []}, "messages"),
                         ({"messages": "Hello"}, "messages"), ({"messages": [None]}, "role"), ({"messages": [user | {"role": "king"}]}, "role"),
                         ({"messages": [{"role": "user"}]}, "content"), ({"messages": [user, user | {"role": "assistant"}]}, "last message"),
                         ({"messages": [user | {"content": "Hello. " * 2000}]}, "too long")):
        with post(server, body) as refused:
            said = refused.read().decode()
            check(f"{str(body)[:60]} is refused for its {reason}", refused.status == 400 and reason.lower() in json.loads(said)["error"].lower(), said)
    with post(server, {"messages": [user]}, "text/plain") as refused:
        check("only JSON is taken", refused.status == 400 and "application/json" in json.load(refused)["error"])
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        connection.request("POST", "/chat", b"", {"Content-Type": "application/json", "Content-Length": str((1 << 20) + 1)})
        refused = connection.getresponse()
        check("a body has a size", refused.status == 413 and "too large" in json.load(refused)["error"], refused.status)


def check_many(server):
    """More than there are sessions: the others wait."""
    n_clients = 2 * SESSIONS
    with concurrent.futures.ThreadPoolExecutor(n_clients) as clients:
        answers = list(clients.map(lambda i: ask(server, [{"role": "user", "content": f"Hello, I am number {i}."}]), range(n_clients)))
    check("every client got its answer", all(text and end["finishReason"] in ("stop", "length") for text, end, _ in answers), answers)


def leave(server, n_clients):
    """Clients that leave when the first of them has a piece of its answer."""
    body = json.dumps({"messages": ROOM}).encode()
    head = f"POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    clients = [socket.create_connection(("127.0.0.1", server.port), TIMEOUT) for _ in range(n_clients)]
    try:
        for client in clients:
            client.sendall(head + body)
        check("an answer begins", clients[0].recv(1) == b"H")
    finally:
        for client in clients:
            client.close()


def check_disconnect(server):
    """An answer may be over before the server sees that its client has left, so several are tried."""
    for _ in range(20):
        leave(server, 4 * SESSIONS)
        with contextlib.suppress(AssertionError):
            server.wait_for(r"a client left after [1-9]\d* pieces", 1)
            break
    said = "".join(server.lines)
    check("an answer ended with its client", re.search(r"a client left after [1-9]\d* pieces", said), said)
    check_many(server)  # no session was lost


def test_http(server):
    check_stream(server)
    check_refusals(server)
    check_many(server)
    check_disconnect(server)
    said = "".join(server.lines)
    check("nothing failed in the server", "fail:" not in said and "xception" not in said, said)
    print("web: streams, refusals, many clients, clients that leave")


# ---- a browser, by the WebDriver protocol

class Browser:
    def __init__(self, port):
        self.port, self.session = port, None

    def call(self, method, path, **body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, path, json.dumps(body) if method == "POST" else None, {"Content-Type": "application/json"})
            answer = json.load(connection.getresponse())["value"]
        check(f"the browser does {path}", not (isinstance(answer, dict) and "error" in answer), answer)
        return answer

    def start(self, chromium, folder):
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}"]
        capabilities = {"goog:chromeOptions": {"binary": chromium, "args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = "/session/" + self.call("POST", "/session", capabilities={"alwaysMatch": capabilities})["sessionId"]

    def open(self, address):
        self.call("POST", self.session + "/url", url=address)

    def element(self, selector):
        return self.session + "/element/" + next(iter(self.call("POST", self.session + "/element", using="css selector", value=selector).values()))

    def write(self, selector, text):
        self.call("POST", self.element(selector) + "/value", text=text)

    def click(self, selector):
        self.call("POST", self.element(selector) + "/click")

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return self.call("POST", self.session + "/execute/sync", script=script, args=[selector])

    def wait_for(self, selector, n_elements):
        end = time.monotonic() + TIMEOUT
        while len(texts := self.texts(selector)) < n_elements:
            check(f"{n_elements} of {selector}", time.monotonic() < end, self.texts("body"))
            time.sleep(0.05)
        return texts

    def problems(self):
        return [entry for entry in self.call("POST", self.session + "/se/log", type="browser") if entry["level"] == "SEVERE"]


@contextlib.contextmanager
def browser_of(driver, chromium):
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True) as process:
        browser = None
        try:
            for line in process.stdout:
                if found := re.search(r"started successfully on port (\d+)", line):
                    browser = Browser(int(found.group(1)))
                    break
            check("chromedriver starts", browser is not None)
            threading.Thread(target=process.stdout.read, daemon=True).start()
            browser.start(chromium, folder)
            yield browser
        finally:
            if browser is not None and browser.session:
                browser.call("DELETE", browser.session)
            process.terminate()


def test_browser(server, driver, chromium):
    with browser_of(driver, chromium) as browser:
        browser.open(server.address("/"))
        long = "Good evening! I have walked all day, and it rains and rains. Do you have a room for me and my old dog, and a stable for two horses?"
        for i, line in enumerate((long, "<b>What</b> is your name?"), 1):
            browser.write("#line", line + "\n")
            notes = browser.wait_for(".note", i)
            check("what was typed is shown", browser.texts(".user")[-1] == line, browser.texts(".user"))
            check("the answer is shown", len(browser.texts(".assistant")[-1]) > 3, browser.texts("body"))
            check("and what it took", "written" in notes[-1], notes)
        check("the second turn knew the first", re.search(r", [1-9]\d* of them known before", notes[-1]), notes)

        browser.write("#line", "Hello. " * 1000 + "\n")
        check("a refusal is shown", "too long" in browser.wait_for(".note", 3)[-1], browser.texts(".note"))
        browser.click("#new")
        check("a new conversation is empty", browser.texts("#log div") == [], browser.texts("#log div"))
        browser.write("#line", "Hello.\n")
        check("and goes on", "written" in browser.wait_for(".note", 1)[0], browser.texts(".note"))
        others = [problem for problem in browser.problems() if "400" not in problem["message"]]
        check("the page has no errors", others == [], others)
    print("web: the page in Chromium")


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("build", "http", "browser"):
        sys.exit(__doc__)
    what, dotnet, folder, model = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if what == "browser" and not (chromium and driver):
        skip("needs Chromium: no chromium with chromedriver")
    if what == "build":
        build(dotnet, folder)
        return
    if not (folder / "out/web.dll").exists():
        skip("needs NuGet: the example could not be built here")
    with served(dotnet, folder, model) as server:
        if what == "http":
            test_http(server)
        else:
            test_browser(server, driver, chromium)


if __name__ == "__main__":
    main()
