#!/usr/bin/env python3
"""Every text rule finds the violation that is seeded here, and leaves the right way alone."""

import tempfile
import unittest
from pathlib import Path

import source_rules as rules

MODULES = """
taut_module(base)
taut_module(core DEPENDS base)
taut_module(net DEPENDS core base LIBRARIES foo)
taut_module(chat DEPENDS base)
taut_module(load DEPENDS base)
taut_program(taut src/main DEPENDS net base)
"""


class RuleTest(unittest.TestCase):
    def complaints(self, rule, files, modules=MODULES):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in ({"CMakeLists.txt": modules, "docs/waits.md": ""} | files).items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return rule(rules.Tree(folder))

    def finds(self, rule, files, where, remedy, **more):
        found = self.complaints(rule, files, **more)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(where + ":"), found)
        self.assertIn(remedy, found[0])

    def accepts(self, rule, files, **more):
        self.assertEqual(self.complaints(rule, files, **more), [])

    def test_arrows_finds_an_include_against_the_arrows(self):
        self.finds(rules.arrows, {"src/chat/a.cc": '\n#include "core/shard.h"\n'}, "src/chat/a.cc:2", "architecture.md")
        self.finds(rules.arrows, {"src/main/a.cc": '#include "chat/a.h"\n'}, "src/main/a.cc:1", "CMakeLists.txt")

    def test_arrows_accepts_what_cmake_names_and_the_own_module(self):
        self.accepts(rules.arrows, {"src/net/a.cc": '#include "net/a.h"\n#include "core/b.h"\n#include <sys/socket.h>\n'})

    def test_arrows_finds_a_module_that_cmake_does_not_know(self):
        self.finds(rules.arrows, {"src/misty/a.cc": ""}, "src/misty/a.cc:1", "taut_module")

    def test_arrows_finds_a_circle(self):
        found = self.complaints(rules.arrows, {}, modules="taut_module(a DEPENDS b)\ntaut_module(b DEPENDS a)\n")
        self.assertEqual(len(found), 2)

    def test_heavy_headers_finds_one_in_a_header(self):
        self.finds(rules.heavy_headers, {"src/net/a.h": "#include <simdjson.h>\n"}, "src/net/a.h:1", "src/wire/chat_reader.cc")

    def test_heavy_headers_finds_a_user_that_is_not_listed(self):
        self.finds(rules.heavy_headers, {"src/net/a.cc": "#include <toml++/toml.h>\n"}, "src/net/a.cc:1", "base/config_toml.cc")
        self.finds(rules.heavy_headers, {"src/net/a.cc": "#include <CLI/CLI.hpp>\n"}, "src/net/a.cc:1", "docs/decisions")

    def test_heavy_headers_accepts_the_listed_and_tests(self):
        self.accepts(rules.heavy_headers, {"src/base/config_toml.cc": "#include <toml++/toml.h>\n",
                                           "src/net/b_test.cc": "#include <spdlog/spdlog.h>\n"})

    def test_header_shape_finds_a_header_without_its_sentence(self):
        self.finds(rules.header_shape, {"src/net/a.h": "#pragma once\n"}, "src/net/a.h:1", "say what the file is for")

    def test_header_shape_finds_a_header_that_may_be_read_twice(self):
        self.finds(rules.header_shape, {"src/net/a.h": "// A.\n#include <x>\n#pragma once\n"}, "src/net/a.h:1", "#pragma once")

    def test_own_header_first_finds_another_before_it(self):
        files = {"src/net/a.h": "", "src/net/b.h": "", "src/net/a.cc": '#include "net/b.h"\n#include "net/a.h"\n'}
        self.finds(rules.own_header_first, files, "src/net/a.cc:1", "net/a.h first")

    def test_names_finds_a_drawer(self):
        for name in ("utils.h", "string_util.cc", "common.h", "test_helpers.h", "misc.cc"):
            self.finds(rules.names, {f"src/net/{name}": ""}, f"src/net/{name}:1", "what it is for")
        self.accepts(rules.names, {"src/net/commonwealth.h": ""})

    def test_threads_finds_each_kind_outside_core(self):
        for code in ("std::atomic<int> a;", "std::mutex m;", "std::shared_mutex m;", "std::condition_variable c;",
                     "std::thread t;", "std::jthread t;", "std::atomic_flag f;", "std::lock_guard g(m);", "pthread_create(a);"):
            self.finds(rules.threads, {"src/chat/a.cc": code + "\n"}, "src/chat/a.cc:1", "Mail")

    def test_threads_accepts_core_tests_and_comments(self):
        self.accepts(rules.threads, {"src/core/a.cc": "std::mutex m;\n", "src/load/a.cc": "std::thread t;\n",
                                     "src/chat/a_test.cc": "std::thread t;\n",
                                     "src/chat/a.cc": '// std::thread\nauto s = "std::mutex";  /* std::atomic\n std::mutex */\n'})

    def test_volatile_finds_it_everywhere_but_in_assembly(self):
        self.finds(rules.volatile, {"src/core/a.cc": "volatile int x;\n"}, "src/core/a.cc:1", "core/cell.h")
        self.accepts(rules.volatile, {"src/core/a.cc": 'asm volatile("" ::: "memory");\n'})

    def test_memory_orders_finds_one_without_its_pair(self):
        for code in ("x.load(std::memory_order_relaxed);", "x.store(1, std::memory_order::release);"):
            self.finds(rules.memory_orders, {"src/core/a.cc": f"// Pairs with b().\n\n// Quick.\n{code}\n\n// Pairs with c().\n"},
                       "src/core/a.cc:4", "pairs with")

    def test_memory_orders_accepts_a_named_pair_a_reason_and_what_needs_none(self):
        code = ("// Pairs with the release in b().\nx.load(std::memory_order_acquire);\n\n"
                "x.load(std::memory_order_relaxed);  // a metric: pairs with nothing\n\nx.load(std::memory_order_seq_cst);\nx.load();\n")
        self.accepts(rules.memory_orders, {"src/core/a.cc": code, "src/core/a_test.cc": "x.load(std::memory_order_relaxed);\n"})

    def test_clocks_finds_the_wall_clock_outside_the_clock(self):
        for code in ("std::chrono::system_clock::now();", "clock_gettime(CLOCK_REALTIME, &t);", "time(nullptr);"):
            self.finds(rules.clocks, {"src/net/a.cc": code + "\n"}, "src/net/a.cc:1", "base/clock.h")
        self.accepts(rules.clocks, {"src/base/clock.cc": "clock_gettime(CLOCK_REALTIME, &t);\n", "src/net/a.cc": "x.time(0);\n"})

    def test_shard_code_finds_calls_that_may_block(self):
        for code in ("std::ifstream in(p);", "fopen(p);", "::open(p, 0);", "getaddrinfo(a);", "::sleep(1);",
                     "std::this_thread::sleep_for(x);", "std::cout << 1;", "spdlog::info(1);", "std::fprintf(stderr);"):
            self.finds(rules.shard_code, {"src/net/a.cc": code + "\n"}, "src/net/a.cc:1", "runs on a shard")
        self.finds(rules.shard_code, {"src/gateway/chat_shard.cc": "fopen(p);\n"}, "src/gateway/chat_shard.cc:1", "Mail")

    def test_shard_code_accepts_start_up_code_and_methods_of_the_same_name(self):
        self.accepts(rules.shard_code, {"src/gateway/serve.cc": "fopen(p);\n",
                                        "src/chat/a.cc": "conversation.open(x);\nenum { system };\nstate.system(1);\n"})

    def test_waits_finds_one_that_the_table_does_not_name(self):
        for code in ("epoll_pwait2(fd);", "nanosleep(&t);", "std::this_thread::sleep_for(t);", "sched_yield();", "thread.join();",
                     "syscall(SYS_futex, a);", "ready_.wait(lock);", "started.wait();", "ready_.wait_for(lock, t);", "fdatasync(fd);", "_mm_pause();"):
            self.finds(rules.waits, {"src/core/a.cc": f"void spin(int x) {{\n  {code}\n}}\n"}, "src/core/a.cc:2", "`core/a.cc:spin`")

    def test_waits_finds_a_row_that_waits_no_more(self):
        self.finds(rules.waits, {"docs/waits.md": "| `core/a.cc:spin` | why |\n"}, "docs/waits.md:1", "remove the row")

    def test_waits_accepts_named_ones_in_functions_and_methods(self):
        code = "void A::park(\n    int x) {\n  if (x) {\n    nanosleep(&t);\n  }\n}\n"
        header = "// H.\n#pragma once\n#include <condition_variable>\nclass B {\n public:\n  void nap() {\n    sched_yield();\n  }\n};\n"
        table = "| site | why |\n|---|---|\n| `core/a.cc:park` | x |\n| `core/b.h:nap` | y |\n"
        self.accepts(rules.waits, {"src/core/a.cc": code, "src/core/b.h": header, "docs/waits.md": table})

    def test_spin_locks_finds_a_wait_that_does_not_look_at_them(self):
        self.finds(rules.spin_locks, {"src/core/a.cc": "void f() {\n  sched_yield();\n}\n"}, "src/core/a.cc:2", "assert_no_spin_lock_held")

    def test_spin_locks_accepts_pauses_and_waits_that_do(self):
        self.accepts(rules.spin_locks, {"src/core/a.cc": "void f() {\n  __builtin_ia32_pause();\n}\n",
                                        "src/core/b.cc": "void f() {\n  assert_no_spin_lock_held();\n  sched_yield();\n}\n",
                                        "src/net/c.cc": "void f() {\n  sched_yield();\n}\n"})

    def test_waits_finds_that_the_table_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(rules.waits(rules.Tree(folder))), 1)


if __name__ == "__main__":
    unittest.main()
