"""The servers that a chat bench compares, how each is started, loaded and looked at."""

import contextlib
import http.client
import json
import secrets
import select
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench_host import about as about_host
from bench_host import cpu_ticks
from bench_rows import is_void

ROOT = Path(__file__).resolve().parent.parent
SERVER_CPU, CLIENT_CPU = 0, 1
START_SECONDS = 30
VOID_EXIT = 3
PAIRS, SIZE = 64, 1024
# Counting allocations: few pairs, so that each soon has sent what a conversation remembers (4,096 ids a sender) and more.
ALLOCATION_PAIRS, WARM_MESSAGES = 8, 9_000
FLOOD_SECONDS_MAX = 120


@dataclass(frozen=True)
class Taut:
    wait: str
    shards: int = 1
    pinned: bool = True
    rates: bool = False  # off: one visitor here sends what thousands would
    carrier: str = "plain"  # or "tls", "compact"
    client: tuple = ()  # more options of the client: (name, value) pairs
    mode: str = "none"  # as the peers, which store nothing
    linger_us: int = 0  # of the journal

    def __str__(self):
        more = [word for word, usual in ((self.carrier, "plain"), (self.mode, "none")) if word != usual]
        return " ".join([f"taut {self.wait}", *more, *(f"{name} {value}" for name, value in self.client)])

    def command(self, bench, _port):
        words = [bench.taut, "serve", "--listen", "127.0.0.1:0", "--data", tempfile.mkdtemp(dir=bench.folder), "--secret-file",
                 bench.secret, "--site", "demo", "--group", "sales", "--shards", self.shards, "--wait", self.wait, "--mode", self.mode,
                 "--journal-linger-us", self.linger_us]
        if self.carrier == "tls":
            words += bench.certificate()
        if self.carrier == "compact":
            words += ["--compact", "127.0.0.1:0"]
        if not self.rates:
            words += ["--rate-visitor", "0", "--rate-agent", "0", "--handshake-rate", "0"]
        return words if self.pinned else [*words, "--pin", "false"]

    def url(self, process, _port):
        listening = dict(word.split("=") for word in ready_line(process, "listening ").split()[1:])  # carrier -> address
        if self.carrier == "compact":
            return f"tcp://{listening['compact']}"
        scheme = "wss" if self.carrier == "tls" else "ws"
        return f"{scheme}://{listening[scheme]}/v1/chat"


@dataclass(frozen=True)
class Relay:
    kind: str
    ack: bool = False
    pinned: bool = True
    client: tuple = ()

    def __str__(self):
        return f"{self.kind} relay" + (" with acks" if self.ack else "")

    def command(self, bench, _port):
        return [bench.taut, "load", "floor", "--listen", "127.0.0.1:0", "--kind", self.kind, *(["--ack"] if self.ack else [])]

    def url(self, process, _port):
        return "relay://" + ready_line(process, "listening relay=").split("relay=")[1].strip()


def ready_line(process, begin):
    readable, _, _ = select.select([process.stdout], [], [], START_SECONDS)
    line = process.stdout.readline() if readable else ""
    if begin not in line:
        raise RuntimeError(f"{process.args}: no '{begin}' but '{line.strip()}', exit code {process.poll()}")
    return line


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def stop(process):
    """Ends a process that this bench started."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Server:
    """A running arm."""

    def __init__(self, process, url):
        self.pid = process.pid
        self.url = url

    def metrics(self):
        """Every metric of /metrics, summed over its labels."""
        host = self.url.split("/")[2]
        connection = http.client.HTTPConnection(host, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        totals = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                name = name.split("{")[0]
                totals[name] = totals.get(name, 0) + float(value)
        return totals

    def spent(self):
        """(CPU seconds, voluntary switches) so far, over all threads."""
        cpu, switches = 0, 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            cpu += int((task / "schedstat").read_text().split()[0]) / 1e9
            status = (task / "status").read_text()
            switches += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
        return cpu, switches

    def at_rest(self, after_seconds, seconds):
        time.sleep(after_seconds)
        begin, (cpu, switches) = time.monotonic(), self.spent()
        time.sleep(seconds)
        cpu_end, switches_end = self.spent()
        elapsed = time.monotonic() - begin
        return {"cpu_share": (cpu_end - cpu) / elapsed, "switches_per_s": (switches_end - switches) / elapsed}

    def bytes_in_use(self):
        """Once it has stopped changing: what the server counts, and what the kernel counts."""
        used = None
        for _ in range(50):
            metrics = self.metrics()
            last, used = used, metrics["taut_pool_bytes_in_use"] + metrics["taut_malloc_bytes_in_use"]
            if used == last:
                break
            time.sleep(0.2)
        status = Path(f"/proc/{self.pid}/status").read_text()
        return {"used": used, "resident": int(status.split("VmRSS:")[1].split()[0]) * 1024}


class Bench:
    """The folder, the secret and the program of one bench; starts and ends everything that it measures."""

    def __init__(self, taut, attempts):
        self.taut = taut
        self.attempts = attempts
        self.folder = tempfile.mkdtemp(prefix="taut-bench-")
        self.secret = str(Path(self.folder) / "secret")
        Path(self.secret).write_text(secrets.token_hex(32))
        self.ticks = cpu_ticks()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def certificate(self):
        """The server's options for TLS, with a self-signed certificate of this bench."""
        cert, key = Path(self.folder) / "tls.crt", Path(self.folder) / "tls.key"
        if not cert.exists():
            subprocess.run(["openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                            "-subj", "/CN=taut-bench", "-keyout", key, "-out", cert], check=True, capture_output=True)
        return ["--tls-cert", cert, "--tls-key", key]

    @contextlib.contextmanager
    def serve(self, arm):
        port = free_port()  # for arms that cannot say which one they took
        command = [str(word) for word in arm.command(self, port)]
        if arm.pinned:
            command = ["taskset", "-c", str(SERVER_CPU), *command]
        with open(Path(self.folder) / "server.log", "w") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield Server(process, arm.url(process, port))
        except Exception as error:
            tail = (Path(self.folder) / "server.log").read_text()[-500:]
            raise RuntimeError(f"{arm}: {error}" + (f"\n{tail}" if tail else "")) from error
        finally:
            stop(process)

    def client_command(self, server, load):
        """`load` is the options of `taut load chat`, or with a `program` of another `taut load`."""
        options = dict(load) if "program" in load else {"program": "chat", "pairs": PAIRS, "size": SIZE} | load
        program = options.pop("program")
        flags = [str(word) for name, value in options.items() for word in ("--" + name, value)]
        return [str(self.taut), "load", program, "--url", server.url, "--secret-file", self.secret, "--site", "demo", "--group",
                "sales", *flags]

    def load(self, server, load):
        """One run of the client: its report, void or not."""
        report = Path(self.folder) / "run.json"
        command = [*self.client_command(server, load), "--cpu", str(CLIENT_CPU), "--server-pid", str(server.pid), "--json", str(report)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 3 * load["seconds"])
        if done.returncode not in (0, VOID_EXIT):
            raise RuntimeError(done.stderr.strip() or f"the client ended with {done.returncode}")
        return json.loads(report.read_text())

    def interleave(self, arms, blocks, load):
        """Blocks of A B … B A, each run on a fresh server: arm -> its runs in time order."""
        runs = {arm: [] for arm in arms}
        for _ in range(blocks):
            for arm in [*arms, *reversed(arms)]:
                for _ in range(self.attempts):
                    with self.serve(arm) as server:
                        run = self.load(server, load | dict(arm.client))
                    if not is_void(run):
                        break
                runs[arm].append(run)
        return runs

    @contextlib.contextmanager
    def crowd(self, server, size):
        """Idle visitors for as long as the block lasts."""
        command = [str(self.taut), "load", "idle", "--url", server.url, "--secret-file", self.secret, "--site", "demo",
                   "--connections", str(size)]
        process = subprocess.Popen(["taskset", "-c", str(CLIENT_CPU), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            ready_line(process, "ready connections=")
            yield
        finally:
            process.stdin.close()
            stop(process)

    def allocations_under_load(self, server, messages):
        """Heap allocations between two looks at least this many messages apart, less what a look itself costs."""
        server.metrics()
        idle = server.metrics()["taut_allocations_total"]
        a_look = server.metrics()["taut_allocations_total"] - idle
        load = {"inflight": 16, "direction": "both", "seconds": FLOOD_SECONDS_MAX, "warmup": 0, "pairs": ALLOCATION_PAIRS}
        client = subprocess.Popen(self.client_command(server, load), stdout=subprocess.DEVNULL)
        try:
            before = self._await_messages(server, client, ALLOCATION_PAIRS * 2 * WARM_MESSAGES)
            after = self._await_messages(server, client, before["taut_messages_accepted_total"] + messages, every=1)
        finally:
            stop(client)
        spent = {name: int(after[name] - before[name]) for name in ("taut_allocations_total", "taut_messages_accepted_total")}
        looks = after["looks"]
        return {"allocations": spent["taut_allocations_total"] - int(looks * a_look), "messages": spent["taut_messages_accepted_total"]}

    def _await_messages(self, server, client, count, every=0.2):
        for looks in range(1, int(FLOOD_SECONDS_MAX / every)):
            if client.poll() is not None:
                raise RuntimeError(f"the client ended with {client.returncode}")
            metrics = server.metrics()
            if metrics["taut_messages_accepted_total"] >= count:
                return metrics | {"looks": looks}
            time.sleep(every)
        raise RuntimeError("too few messages to count allocations")

    def about(self):
        """What the numbers depend on."""
        return about_host(self.taut, self.ticks)
