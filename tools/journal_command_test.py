#!/usr/bin/env python3
"""`taut journal` from outside, on files that are made here by the tables of docs/journal.md."""

import fcntl
import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAUT = os.environ.get("TAUT_BINARY", str(ROOT / "build/release/taut"))
TYPES = {"started": 1, "stopped": 2, "conversation": 3, "item": 4, "receipts": 5, "presence": 6, "block": 7}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def segment_head(number, first, version=1):
    before, behind = b"TAUTJRNL" + struct.pack("<HH", version, 0), struct.pack("<QQ", number, first)
    return before + struct.pack("<I", crc32c(before + behind)) + behind


def record(sequence, batch_index, kind, payload):
    length = struct.pack("<I", 32 + len(payload))
    rest = struct.pack("<QqHBBI", sequence, 1_700_000_000_000, 2, TYPES[kind], 0, batch_index) + payload + bytes(-len(payload) % 8)
    return length + struct.pack("<I", crc32c(length + rest)) + rest


class JournalCommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = Path(folder.name) / "data"
        (self.data / "journal").mkdir(parents=True)
        self.records = [record(1, 0, "started", b'{"version":"0.1.0","clean":true}'), record(2, 1, "item", b'{"text":"h\xc3\xa9"}'),
                        record(3, 0, "item", b"no object\n"), record(4, 0, "stopped", b"{}")]

    def segment(self, number=1):
        return self.data / "journal" / f"journal-{number:016}.log"

    def write(self, records, zeros=1000):
        self.segment().write_bytes(segment_head(1, 1) + b"".join(records) + bytes(zeros))

    def taut(self, *arguments):
        return subprocess.run([TAUT, "journal", *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=60, stdin=subprocess.DEVNULL)

    def says(self, arguments, out, err="", code=0):
        done = self.taut(*arguments)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (out, err, code))

    def test_a_whole_journal_is_said_to_be_whole(self):
        self.write(self.records)
        for place in ([self.data], ["--data", self.data]):
            self.says(["check", *place], "4 records in 1 segment, stopped cleanly\n")
        self.write(self.records[:1])
        self.says(["check", self.data], "1 record in 1 segment, not stopped cleanly\n")
        self.write([], zeros=0)
        self.says(["check", self.data], "0 records in 1 segment, stopped cleanly\n")

    def test_a_torn_tail_is_no_damage(self):
        self.write([*self.records[:2], self.records[2][:20]])
        self.says(["check", self.data], f"2 records in 1 segment, not stopped cleanly\n{self.segment()}: torn at byte 144: 20 bytes of a "
                                        f"commit that never became durable\n")

    def test_dump_prints_a_line_of_json_for_each_record(self):
        self.write(self.records)
        done = self.taut("dump", self.data)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[0], {"sequence": 1, "time_ms": 1_700_000_000_000, "shard": 2, "type": "started",
                                    "payload": {"version": "0.1.0", "clean": True}})
        self.assertEqual([line["payload"] for line in lines[1:]], [{"text": "hé"}, "no object\n", {}])
        self.assertEqual([line["type"] for line in lines[1:]], ["item", "item", "stopped"])

    def damage(self):
        self.write(self.records)
        content = bytearray(self.segment().read_bytes())
        content[32 + len(self.records[0]) + 40] ^= 1
        self.segment().write_bytes(content)
        return bytes(content), 32 + len(self.records[0])

    def test_damage_is_named_with_its_place(self):
        _, at = self.damage()
        what = f"{self.segment()}: damaged at byte {at}: records 2 to 4 cannot be read"
        self.says(["check", self.data], "", f"taut journal check: {what}; 1 record before it can be read. taut journal repair cuts the "
                                            f"journal off there and keeps what it takes away\n", 1)
        done = self.taut("dump", self.data)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (1, 1))
        self.assertIn(what, done.stderr)

    def test_repair_cuts_off_and_keeps(self):
        content, at = self.damage()
        kept = Path(f"{self.segment()}.damaged")
        self.says(["repair", self.data], f"the records up to 1 remain; 2 to 4 are lost\nkept {kept}\n")
        self.assertEqual(self.segment().read_bytes(), content[:at])
        self.assertEqual(kept.read_bytes(), content)
        self.says(["check", self.data], "1 record in 1 segment, not stopped cleanly\n")
        self.says(["repair", self.data], "nothing is damaged: 1 record\n")

    def test_repair_is_refused_while_a_server_runs(self):
        content, _ = self.damage()
        with open(self.data / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.says(["repair", self.data], "", f"taut journal repair: another taut uses the data directory {self.data}: stop it or "
                                                 f"choose another --data\n", 1)
        self.assertEqual(self.segment().read_bytes(), content)

    def test_a_newer_taut_s_journal_is_not_touched(self):
        self.segment().write_bytes(segment_head(1, 1, version=2))
        for word in ("check", "dump", "repair"):
            self.says([word, self.data], "", f"taut journal {word}: {self.segment()}: a newer taut wrote it, in format 2; this one reads "
                                             f"format 1\n", 1)

    def test_wrong_usage_says_what_is_missing(self):
        self.says(["check"], "", "taut journal check: --data is missing: give --data DIR\n", 2)
        nowhere = self.data / "nowhere"
        for word in ("check", "dump", "repair"):
            self.says([word, nowhere], "", f"taut journal {word}: {nowhere}/journal: there is no journal\n", 2)
        self.assertFalse(nowhere.exists())
        self.says([], "", "taut: journal needs a second word: journal check, journal dump, journal repair\n", 2)
        self.assertIn("Usage: taut journal repair", self.taut("repair", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
