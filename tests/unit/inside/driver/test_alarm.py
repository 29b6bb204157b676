"""The clock over single calls: what comes late, or from beside them, neither ends nor hides what follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import drive, imported, lay_tree

LATE = """
    import os, signal
    REAL = signal.setitimer
    def late(which, seconds, again=0.0):
        was = REAL(which, seconds, again)
        if not seconds:
            os.kill(os.getpid(), signal.SIGALRM)  # as a kernel that is behind delivers it
        return was
    signal.setitimer = late
    def f():
        while True: pass
    def g(): return 1
    """


def test_an_alarm_that_comes_late_ends_nothing(tmp_path: Path) -> None:
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": LATE}), "cart", ["f", "g"], each=0.2)
    assert seen.calls == {"f": "timed-out", "g": "returned"}
    assert seen.item["outcome"] == "completed"
    assert seen.done


def test_alarms_while_a_call_is_put_away_end_nothing(tmp_path: Path) -> None:
    source = """
        import signal
        REAL = signal.setitimer
        signal.setitimer = lambda which, seconds, again=0.0: REAL(which, seconds and 1e-4, seconds and 1e-4)
        """ + "".join(f"\n        def f{n}(a=1): return a" for n in range(60))
    names = [f"f{n}" for n in range(60)]
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart", names)
    assert list(seen.calls) == names
    assert seen.item["outcome"] == "completed"


def test_what_breaks_the_row_of_calls_is_no_look_to_the_end(tmp_path: Path) -> None:
    source = """
        import os, sys
        def f():
            os.chdir = lambda place: sys.exit()  # asked for after each call
        def g(): print('reached')
        """
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart", ["f", "g"])
    assert seen.item["outcome"] == "ended"
    assert not seen.done


def test_errors_whose_text_never_ends_are_bounded(tmp_path: Path) -> None:
    source = """
        class E(Exception):
            def __str__(self):
                while True: pass
        def f(): raise E
        def g(): return 1
        """
    seen = imported(lay_tree(tmp_path / "t", {"cart.py": source}), "cart", ["f", "g"], each=0.2)
    assert seen.calls["g"] == "returned"
    assert seen.done


@pytest.mark.parametrize(
    ("after", "outcome"), [("os.kill(os.getpid(), signal.SIGALRM)", "completed"), ("sys.exit()", "ended")]
)
def test_a_late_alarm_ends_no_row_of_scripts(tmp_path: Path, after: str, outcome: str) -> None:
    source = f"""
        import os, signal, sys
        REAL = signal.setitimer
        def late(which, seconds, again=0.0):
            REAL(which, seconds, again)
            if not seconds:
                {after}
        signal.setitimer = late
        print(sys.argv[1:])
        """
    job = {"items": [{"do": "script", "path": "go.py", "argv": [["a"], ["b"]]}]}
    seen = drive(lay_tree(tmp_path / "t", {"go.py": source}), job)
    assert seen.item["outcome"] == outcome
    assert seen.done is (outcome == "completed")
    assert "['b']" in seen.stdout
