"""The driver, run for real: what it says when code ends early, hangs, needs something or just works."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tests.unit.inside.driver.harness import DRIVER, drive, imported, lay_tree


def test_import_to_the_end_is_done(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t", {"shop/__init__.py": "", "shop/cart.py": "print('imported')\nTOTAL = 3\n"}
    )
    seen = imported(tree, "shop.cart")
    assert (seen.done, seen.code, seen.item["outcome"]) == (True, 0, "completed")
    assert seen.stdout == "imported\n"


def test_two_word_form_works_by_hand(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "TOTAL = 3\n"})
    done = subprocess.run(
        [sys.executable, DRIVER / "main.py", "import", "cart"], cwd=tree, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr.endswith(b"done\n")


@pytest.mark.parametrize("job", ["[]", "{", '{"items": [{"do": "dance"}]}', '{"items": 3}'])
def test_nonsense_job_is_refused(tmp_path: Path, job: str) -> None:
    done = subprocess.run(
        [sys.executable, DRIVER / "main.py", job], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_missing_dependency_is_told_by_its_top_name(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "import nothere.deep.inside\n"})
    seen = imported(tree, "cart")
    assert seen.done
    assert (seen.item["outcome"], seen.item["missing"]) == ("missing", "nothere")


def test_missing_part_of_the_tree_is_told_in_full(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"shop/__init__.py": "", "cart.py": "import shop.gone\n"})
    seen = imported(tree, "cart")
    assert (seen.item["outcome"], seen.item["missing"]) == ("missing", "shop.gone")


def test_a_loose_folder_does_not_hide_the_standard_library(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t",
        {
            "plugins/types.py": "TEXT = 'of the project'\n",
            "plugins/enum.py": "raise RuntimeError('of the project')\n",
            "plugins/player.py": "import dataclasses, neighbour_of\n",
            "plugins/neighbour_of.py": "import types\nKEPT = types.SimpleNamespace()\n",
        },
    )
    item = {"do": "import", "module": "plugins.player", "path": "plugins/player.py"}
    seen = drive(tree, {"items": [item], "roots": [".", "plugins"]})
    assert seen.item["outcome"] == "completed"


def test_annotations_that_only_python_3_14_leaves_alone(tmp_path: Path) -> None:
    source = """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from importlib.metadata import Distribution
        class Kept:
            def first(self, given: Distribution) -> Later:
                return 3
        class Later:
            pass
    """
    files = {
        "shop/__init__.py": "from .rows import Row\n",
        "shop/rows.py": "from .kept import Kept\nclass Row:\n    pass\n",
        "shop/kept.py": "import shop.early\nCOUNT = shop.early.COUNT" + dedent(source),
        "shop/early.py": "COUNT = 1\n",
    }
    tree = lay_tree(tmp_path / "t", {**files, "shop/bad.py": "class Kept:\n    first = Later\n"})
    watched = {"shop/kept.py": [[8, 8]]}
    seen = imported(tree, "shop.kept", ["Kept.first"], lines=watched)
    assert seen.item["outcome"] == "completed"
    assert seen.item["lines"] == {"shop/kept.py": [8]}
    assert imported(tree, "shop.bad").item["exception"] == "NameError"


def test_exception_is_ordinary(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "raise KeyboardInterrupt('x' * 9000)\n"})
    seen = imported(tree, "cart")
    assert seen.done
    assert (seen.item["outcome"], seen.item["exception"]) == ("exception", "KeyboardInterrupt")
    assert len(seen.item["message"]) == 200


def test_target_that_is_not_there_on_this_side(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"a.py": ""})
    seen = imported(tree, "b")
    assert seen.done
    assert seen.item["outcome"] == "absent"


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("import os\nos._exit(0)\n", "ended"),
        ("import sys\nsys.exit()\n", "ended"),
        ("raise SystemExit\n", "ended"),
        ("import atexit\natexit._clear()\n", "ended"),
        ("import atexit, os\natexit.register(os._exit, 0)\n", "ended"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "ended"),
        ("import os, signal\nos.killpg(0, signal.SIGKILL)\n", "ended"),
        ("import os\nos.execv('/bin/true', ['true'])\n", "ended"),
        ("while True: pass\n", "timed-out"),
        ("import signal\nsignal.alarm(0)\nsignal.pause()\n", "timed-out"),
        ("import threading\nthreading.Thread(target=threading.Event().wait).start()\n", "threads-left"),
    ],
)
def test_early_end_is_never_done(tmp_path: Path, source: str, outcome: str) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    # What does not end is waited for to the last; what ends by itself may take its time on a busy machine.
    seen = imported(tree, "cart", seconds=1.0 if outcome == "timed-out" else 20.0, grace=0.1)
    assert not seen.done
    assert seen.code == 1
    assert seen.item["outcome"] == outcome


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n", True),
        ("import _thread, select\n_thread.start_new_thread(select.select, ([], [], [], 30))\n", True),
        ("import os, time\nif os.fork() == 0:\n    time.sleep(5)\n    os._exit(0)\n", True),
        ("import threading\nthreading.Thread(target=int).start()\n", False),
        (
            "import concurrent.futures as f\nPOOL = f.ThreadPoolExecutor(2)\nPOOL.submit(int).result()\n",
            False,
        ),
    ],
)
def test_what_is_left_running_is_told(tmp_path: Path, source: str, left: bool) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", seconds=5.0, grace=0.2)
    assert seen.done
    assert bool(seen.item.get("threads") or seen.item.get("left_running")) is left


@pytest.mark.parametrize("name", ["sitecustomize", "os", "time", "abc", "json"])
def test_a_module_named_like_one_that_is_there_already_runs_all_the_same(tmp_path: Path, name: str) -> None:
    source = "from pathlib import Path\nPath(__file__).with_name('ran').write_text('')\n"
    tree = lay_tree(tmp_path / "t", {f"{name}.py": source})
    assert imported(tree, name).done
    assert (tree / "ran").exists()


def test_who_ended_in_time_is_not_late_because_the_driver_was_not_woken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(DRIVER))
    watch = importlib.import_module("gate.inside.driver.main")._watch
    inlet, outlet = os.pipe()
    child = subprocess.Popen(["sh", "-c", "kill -9 $$"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.close(outlet)
    try:
        assert watch(child.pid, inlet, time.monotonic() - 1.0) == ([], -9)
    finally:
        os.close(inlet)
        child.returncode = -9  # waited for by the driver


def test_driver_waits_for_the_launchers_clock_when_time_ran_out(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "while True: pass\n"})
    start = time.monotonic()
    seen = imported(tree, "cart", seconds=0.3, hold=0.7)
    assert time.monotonic() - start > 1.0
    assert not seen.done
    assert seen.item["outcome"] == "timed-out"


def test_killing_the_driver_leaves_no_report(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "import os\nos.kill(os.getppid(), 9)\n"})
    seen = imported(tree, "cart")
    assert not seen.done
    assert seen.report == {}


def test_descriptor_for_the_report_is_out_of_the_childs_reach(tmp_path: Path) -> None:
    source = """
        import os, stat
        assert "GATE_DRIVER_FD" not in os.environ
        for fd in map(int, os.listdir("/proc/self/fd")):
            try:
                assert not stat.S_ISSOCK(os.fstat(fd).st_mode), fd
            except OSError:
                pass
        """
    assert imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart").item["outcome"] == "completed"


def test_end_written_by_a_forked_child_does_not_stand_for_the_parent(tmp_path: Path) -> None:
    source = "import os\nif os.fork():\n    os.wait()\n    os._exit(0)\n"
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart")
    assert not seen.done
    assert seen.item["outcome"] == "ended"


def test_messages_that_the_code_made_up_do_not_stand_for_ours(tmp_path: Path) -> None:
    source = """
        import json, os
        said = [
            {"m": "called", "name": "go", "outcome": "returned"},
            {"m": "report", "outcome": "completed"},
            {"m": "end"},
        ]
        for fd in range(3, 64):
            try:
                for one in said:
                    os.write(fd, json.dumps(one).encode() + b"\\n")
            except OSError:
                pass
        os._exit(0)
        """
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart")
    assert not seen.done
    assert seen.item["outcome"] == "ended"


def test_call_that_ends_the_process_does_not_hide_the_next(tmp_path: Path) -> None:
    source = """
        import os
        def first(): return 1
        def die(): os._exit(3)
        def last(): open("ran", "w").close()
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", ["first", "die", "last"])
    assert seen.done
    assert seen.calls == {"first": "returned", "die": "ended", "last": "returned"}
    assert (tree / "ran").exists()


def test_call_that_is_killed_is_never_done(tmp_path: Path) -> None:
    source = "import os\ndef die(): os.kill(os.getpid(), 9)\ndef last(): pass\n"
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart", ["die", "last"])
    assert not seen.done
    assert seen.calls == {"die": "ended", "last": "returned"}


def test_items_meet_fresh_processes(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t",
        {
            "a.py": "import builtins, os\nbuiltins.mark = 1\nos._exit(0)\n",
            "b.py": "import builtins\nassert not hasattr(builtins, 'mark')\n",
        },
    )
    job = {"items": [{"do": "import", "module": m, "path": f"{m}.py"} for m in ("a", "b")]}
    seen = drive(tree, job)
    assert [item["outcome"] for item in seen.report["items"]] == ["ended", "completed"]
    assert not seen.done


def test_delayed_payloads_show_themselves(tmp_path: Path) -> None:
    source = """
        import threading, time
        def write(name): open(name, "w").close()
        threading.Timer(3600, write, ["timer"]).start()
        def later():
            time.sleep(0.2)
            write("daemon")
        threading.Thread(target=later, daemon=True).start()
        time.sleep(3600)
        write("slept")
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", nap=0.05, grace=2)
    assert seen.done
    assert {"timer", "daemon", "slept"} <= set(os.listdir(tree))


def test_exit_handlers_and_finalisers_run(tmp_path: Path) -> None:
    source = """
        import atexit
        def write(name): open(name, "w").close()
        atexit.register(write, "atexit")
        class Loop:
            def __init__(self): self.me = self
            def __del__(self): write("cycle")
        Loop()
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    assert imported(tree, "cart").done
    assert {"atexit", "cycle"} <= set(os.listdir(tree))


def test_orphans_get_a_moment(tmp_path: Path) -> None:
    source = "import subprocess\nsubprocess.Popen(['sh', '-c', '(sleep 0.2; touch orphan) &'])\n"
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    assert imported(tree, "cart", grace=5).done
    assert (tree / "orphan").exists()


def test_moved_clock(tmp_path: Path) -> None:
    source = """
        import datetime, time
        from datetime import date
        import calendar
        real = time.clock_gettime(time.CLOCK_MONOTONIC)
        assert isinstance(datetime.datetime.now(), datetime.datetime)
        assert isinstance(datetime.datetime(2020, 1, 1), datetime.date)
        print(time.strftime("%Y"), time.localtime().tm_year, datetime.datetime.now().year, date.today().year,
              datetime.datetime.utcnow().year, time.gmtime().tm_year, datetime.datetime.today().year)
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", clock=4_000_000_000)
    assert seen.item["outcome"] == "completed", seen.item
    years = {int(word) for word in seen.stdout.split()}
    assert len(years) == 1
    assert years.pop() > 2140


def test_module_of_the_tree_is_not_hidden_by_ours(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"json.py": "open('own', 'w')\n", "select.py": "open('own2', 'w')\n"})
    job = {"items": [{"do": "import", "module": m, "path": f"{m}.py"} for m in ("json", "select")]}
    assert drive(tree, job).done
    assert {"own", "own2"} <= set(os.listdir(tree))


def test_a_package_of_the_tree_is_taken_too_and_a_folder_is_none(tmp_path: Path) -> None:
    files = {
        "a.py": "import json, select\n",
        "json/__init__.py": "open('own', 'w')\n",
        "select/notes.txt": "",
    }
    tree = lay_tree(tmp_path / "t", files)
    assert imported(tree, "a").done
    assert (tree / "own").exists()


def test_most_jobs_start_without_what_only_some_need(tmp_path: Path) -> None:
    """Each module that the driver imports is some watched calls more in every run."""
    tree = lay_tree(tmp_path / "t", {"a.py": "import sys\nopen('names', 'w').write(' '.join(sys.modules))\n"})
    job = {"items": [{"do": "import", "module": "a", "path": "a.py"}]}
    assert drive(tree, job, python=(sys.executable, "-S")).done
    names = set((tree / "names").read_text().split())
    assert {"unittest", "importlib.abc", "doctest"}.isdisjoint(names)


def test_lines_code_and_sites_are_reported(tmp_path: Path) -> None:
    source = """
        def quiet():
            return 1

        def loud(path):
            # a comment
            return open(path, "w")
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", ["loud"], lines={"cart.py": [[1, 9]]})
    assert seen.item["lines"] == {"cart.py": [1, 4, 6]}
    assert seen.item["code"] == {"cart.py": [1, 2, 4, 6]}
    assert seen.item["sites"] == [["open.direct", "/tmp/gate-args/input.txt", "cart.py", 6]]


def test_report_that_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "x = 0\n" * 60_000})
    seen = imported(tree, "cart", lines={"cart.py": [[1, 60_000]]})
    assert seen.done
    assert seen.item["outcome"] == "completed"
    assert seen.item["cut"] is True


def test_flood_of_messages_is_bounded(tmp_path: Path) -> None:
    source = """
        import os
        for fd in range(3, 64):
            try:
                if "pipe" in os.readlink(f"/proc/self/fd/{fd}"):
                    for _ in range(300):
                        os.write(fd, b"[" * 65536)
            except OSError:
                pass
        """
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart")
    assert seen.report["items"][0]["do"] == "import"


def test_what_the_code_puts_in_the_place_of_thread_numbers_is_not_called(tmp_path: Path) -> None:
    """gevent's is Python that raises events of its own: each of ours then caused another one."""
    source = """
        import _thread, threading
        own = _thread.get_ident
        def mine(): return open("numbers", "w").close() or own()
        threading.get_ident = _thread.get_ident = mine
        open("ordinary", "w").close()
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", lines={"cart.py": [[1, 5]]})
    assert seen.report["items"][0]["outcome"] == "completed", seen.report
