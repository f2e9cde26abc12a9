"""The servers of others that a chat bench compares taut with: how each is found, started and reached."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "peers"
START_SECONDS = 30
INSTALL_SECONDS = 120


class Missing(Exception):
    """A peer that is not on this machine."""


def program(name):
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if path is None:
        raise Missing(f"{name} is not installed: apt-get install {'nodejs npm' if name in ('node', 'npm') else name}")
    return path


def nats(bench, port):
    return [program("nats-server"), "-a", "127.0.0.1", "-p", port, "-l", Path(bench.folder) / "nats.log"]


def redis(bench, port):
    return [program("redis-server"), "--bind", "127.0.0.1", "--port", port, "--dir", bench.folder, "--save", "", "--appendonly", "no",
            "--client-output-buffer-limit", "pubsub 0 0 0"]


def mosquitto(bench, port):
    path = program("mosquitto")
    settings = Path(bench.folder) / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\npersistence false\n"
                        "max_queued_messages 0\nlog_type error\n")
    return [path, "-c", settings]


def on_node(script):
    def command(_bench, port):
        node = program("node")
        if not (FOLDER / "node_modules/.package-lock.json").exists():
            done = subprocess.run([program("npm"), "ci", "--no-audit", "--no-fund"], cwd=FOLDER, capture_output=True, text=True,
                                  timeout=INSTALL_SECONDS)
            if done.returncode:
                raise Missing(f"npm ci in tools/peers: {done.stderr.strip().splitlines()[-1:]}")
        return [node, FOLDER / script, port]

    return command


@dataclass(frozen=True)
class Peer:
    """A server that is reached at a port of ours as soon as it listens."""

    name: str
    scheme: str  # of the load generator's URL
    words: Callable  # (bench, port) -> its command line; raises Missing
    pinned: bool = True
    client: tuple = ()

    def __str__(self):
        return self.name

    def command(self, bench, port):
        return self.words(bench, port)

    def url(self, process, port):
        give_up = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return f"{self.scheme}://127.0.0.1:{port}"
            time.sleep(0.02)
        raise RuntimeError(f"does not listen, exit code {process.poll()}")

    def missing(self, bench):
        """Why it cannot be started here; None when it can."""
        try:
            self.words(bench, 0)
        except (Missing, OSError, subprocess.TimeoutExpired) as why:
            return str(why)
        return None


# All that is known of a peer stands in one line here; its bytes on the wire are src/load/protocol_*.cc.
PEERS = [
    Peer("nats", "nats", nats),
    Peer("redis", "redis", redis),
    Peer("mosquitto", "mqtt", mosquitto),
    Peer("ws", "wsrelay", on_node("ws_relay.mjs")),
    Peer("socketio", "socketio", on_node("socketio_relay.mjs")),
]
