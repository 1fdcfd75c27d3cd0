"""The audit log: what is written, what is found when it was tampered with, and what happens when it cannot be written."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.ports import FixedClock

from keel.errors import KeelError
from keel.runtime.ports import StoreUnavailable
from keel.store import chain
from keel.store.audit import AuditFile
from keel.store.audit_read import entries, verify_audit
from keel.store.files import FileError

run = asyncio.run
ROOT = Path(__file__).parents[3]


def written(path: Path, *events: dict[str, Any]) -> list[bytes]:
    """Append events and return the lines of the file."""
    with AuditFile.open(path, FixedClock()) as log:
        for event in events:
            run(log.append(event))
    return path.read_bytes().splitlines()


def numbered(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [{"event": "call", "number": start + at} for at in range(count)]


def codes(path: Path, **options: Any) -> list[tuple[str, int]]:
    return [(item.code, item.location.line) for item in verify_audit(path, **options).findings]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".keel" / "audit.jsonl"


class TestWriting:
    def test_each_line_follows_the_documented_recipe(self, path: Path) -> None:
        lines = written(path, {"event": "call", "tool": "a/b", "text": "ü\x00 \ud800"}, {"n": 1.5})
        prev = ""
        for seq, line in enumerate(lines, 1):
            value = json.loads(line)
            own = value.pop("hash")
            canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            assert own == f"sha256:{hashlib.sha256(canonical).hexdigest()}"
            assert (value["seq"], value["prev"], value["time"]) == (seq, prev, "2027-01-15T08:00:00.000000Z")
            prev = own
        assert json.loads(lines[0])["event"] == {"event": "call", "tool": "a/b", "text": "ü\x00 \\ud800"}
        assert codes(path) == []
        assert verify_audit(path).head == chain.Link(2, prev)

    def test_nobody_else_may_read_it_and_git_passes_it_by(self, path: Path) -> None:
        written(path, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert (path.parent / ".gitignore").read_text() == "*\n"

    def test_a_chain_is_continued(self, path: Path) -> None:
        written(path, *numbered(3))
        assert len(written(path, *numbered(2))) == 5
        assert codes(path) == []

    def test_an_event_longer_than_a_block_is_continued_too(self, path: Path) -> None:
        written(path, {"text": "x" * 200_000})
        written(path, {"text": "y" * 70_000})
        assert (codes(path), verify_audit(path).head.seq) == ([], 2)

    def test_an_event_that_is_not_json_keeps_only_itself_out(self, path: Path) -> None:
        async def several(log: AuditFile) -> list[object]:
            events: list[Any] = [{"n": 1}, {"n": float("nan")}, {"n": 2}, {"n": object()}, {"n": 3}]
            return await asyncio.gather(*map(log.append, events), return_exceptions=True)

        with AuditFile.open(path, FixedClock()) as log:
            outcomes = run(several(log))
        assert [isinstance(item, KeelError) for item in outcomes] == [False, True, False, True, False]
        assert [item.event["n"] for item in entries(path) if isinstance(item, chain.Entry)] == [1, 2, 3]
        assert codes(path) == []

    def test_events_of_one_caller_are_written_together_or_not_at_all(self, path: Path) -> None:
        with AuditFile.open(path, FixedClock()) as log:
            run(log.append_all([{"n": 1}, {"n": 2}]))
            with pytest.raises(KeelError):
                run(log.append_all([{"n": 3}, {"n": float("inf")}]))
            run(log.append_all([]))
            run(log.append({"n": 4}, durable=False))
        assert [item.event["n"] for item in entries(path) if isinstance(item, chain.Entry)] == [1, 2, 4]
        assert codes(path) == []

    def test_several_logs_share_a_file(self, path: Path) -> None:
        logs = [AuditFile.open(path, FixedClock()) for _ in range(3)]

        async def everybody() -> None:
            await asyncio.gather(*(logs[at % 3].append({"number": at}) for at in range(90)))

        run(everybody())
        for log in logs:
            log.close()
        assert (codes(path), verify_audit(path).head.seq) == ([], 90)

    def test_several_processes_share_a_file(self, path: Path) -> None:
        program = (
            "import asyncio, sys; from pathlib import Path\n"
            "from keel.store.audit import AuditFile; from tests.fakes.ports import FixedClock\n"
            "with AuditFile.open(Path(sys.argv[1]), FixedClock()) as log:\n"
            "    for at in range(40): asyncio.run(log.append({'from': sys.argv[2], 'number': at}))\n"
        )
        words = [sys.executable, "-c", program, str(path)]
        children = [subprocess.Popen([*words, str(at)], cwd=ROOT) for at in range(3)]
        assert [child.wait(60) for child in children] == [0, 0, 0]
        assert (codes(path), verify_audit(path).head.seq) == ([], 120)

    @given(st.lists(st.integers(0, 300), max_size=4), st.data())
    def test_whatever_a_killed_writer_leaves_the_next_one_records_it(
        self, cuts: list[int], data: st.DataObject
    ) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "audit.jsonl"
            lines = written(path, *numbered(2))
            for cut in cuts:
                # A writer dies at any byte of what it writes, also of what closes the work of one that died before.
                before = path.stat().st_size
                written(path, *numbered(1, 10))
                whole = path.read_bytes()
                path.write_bytes(whole[: min(len(whole), before + cut)])
            count = data.draw(st.integers(1, 2))
            assert written(path, *numbered(count, 20))[:2] == lines
            assert {code for code, _ in codes(path)} <= {"audit-torn"}
            numbers = [item.event.get("number") for item in entries(path) if isinstance(item, chain.Entry)]
            assert numbers[-count:] == [20 + at for at in range(count)]

    def test_a_torn_line_is_named_with_its_digest(self, path: Path) -> None:
        lines = written(path, *numbered(2))
        torn = b'{"event":{"ki'
        path.write_bytes(path.read_bytes() + torn)
        assert codes(path) == [("audit-torn", 3)]
        written(path, {"number": 2})
        record = json.loads(path.read_bytes().splitlines()[3])
        assert record["prev"] == json.loads(lines[1])["hash"]
        digest = hashlib.sha256(torn).hexdigest()
        assert record["event"] == {"event": "torn_line", "size": len(torn), "digest": f"sha256:{digest}"}
        assert codes(path) == [("audit-torn", 3)]


ALTERATIONS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], list[tuple[str, int]]]] = {
    "altered": (lambda lines: [*lines[:2], lines[2].replace(b'"number":2', b'"number":7'), *lines[3:]], [("audit-altered", 3)]),
    "time": (lambda lines: [*lines[:2], lines[2].replace(b"2027-", b"2026-"), *lines[3:]], [("audit-altered", 3)]),
    "spaces": (lambda lines: [*lines[:2], lines[2].replace(b'":', b'": '), *lines[3:]], [("audit-altered", 3)]),
    "garbage": (lambda lines: [*lines[:2], lines[2][:40], *lines[3:]], [("audit-altered", 3)]),
    "foreign": (lambda lines: [*lines[:2], b"{}", *lines[3:]], [("audit-altered", 3)]),
    "removed": (lambda lines: [*lines[:2], *lines[3:]], [("audit-broken", 3)]),
    "first removed": (lambda lines: lines[1:], [("audit-broken", 1)]),
    "repeated": (lambda lines: [*lines[:3], *lines[2:]], [("audit-broken", 4)]),
    "swapped": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], [("audit-broken", 2), ("audit-broken", 3), ("audit-broken", 4)]),
    "inserted": (lambda lines: [*lines[:2], b"", *lines[2:]], [("audit-altered", 3)]),
}  # fmt: skip


class TestTampering:
    @pytest.mark.parametrize("name", ALTERATIONS)
    def test_it_is_found_with_its_line(self, path: Path, name: str) -> None:
        alter, expected = ALTERATIONS[name]
        lines = alter(written(path, *numbered(6)))
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        assert codes(path) == expected

    @given(st.integers(0), st.integers(1, 255))
    def test_any_changed_byte_is_found(self, at: int, change: int) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "audit.jsonl"
            written(path, *numbered(3))
            head = verify_audit(path).head.hash
            data = bytearray(path.read_bytes())
            data[at % len(data)] ^= change
            path.write_bytes(data)
            assert codes(path, expect_head=head) != []

    def test_a_line_written_anew_breaks_the_chain_after_it(self, path: Path) -> None:
        lines = written(path, *numbered(4))
        first = chain.parse(lines[0])
        forged, _ = chain.line(first.link, 0.0, {"event": "call", "number": 99})
        path.write_bytes(b"\n".join([lines[0], forged.rstrip(), *lines[2:]]) + b"\n")
        assert codes(path) == [("audit-broken", 3)]

    def test_a_cut_is_found_only_against_a_head_kept_elsewhere(self, path: Path) -> None:
        lines = written(path, *numbered(4))
        head = verify_audit(path).head.hash
        written(path, *numbered(1))
        assert codes(path, expect_head=head) == []  # it may have grown
        path.write_bytes(b"\n".join(lines[:2]) + b"\n")
        assert codes(path) == []
        assert codes(path, expect_head=head) == [("audit-head-missing", 2)]

    def test_the_record_of_a_torn_line_needs_the_line(self, path: Path) -> None:
        written(path, *numbered(1))
        path.write_bytes(path.read_bytes() + b'{"ev')
        lines = written(path, *numbered(1))
        path.write_bytes(b"\n".join([lines[0], *lines[2:]]) + b"\n")
        assert codes(path) == [("audit-broken", 2)]

    def test_a_file_that_is_no_audit_log_is_left_alone(self, tmp_path: Path) -> None:
        for text in ("export A=1\n", "export A=1", "{}\n", '{"event":1}\n', "x" * 100_000):
            (tmp_path / "profile").write_text(text)
            with pytest.raises(StoreUnavailable, match="last line"):
                AuditFile.open(tmp_path / "profile", FixedClock())
            assert (tmp_path / "profile").read_text() == text
            assert codes(tmp_path / "profile") == [("audit-altered", 1)]

    def test_a_log_whose_end_was_altered_is_not_continued(self, path: Path) -> None:
        written(path, *numbered(2))
        path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":8'))
        with pytest.raises(StoreUnavailable, match="last line"):
            AuditFile.open(path, FixedClock())

    def test_a_log_that_is_cut_or_removed_while_in_use_is_noticed(self, path: Path) -> None:
        with AuditFile.open(path, FixedClock()) as log:
            run(log.append({"number": 1}))
            run(log.append({"number": 2}))
            os.truncate(path, path.stat().st_size // 2)
            with pytest.raises(StoreUnavailable, match="cut"):
                run(log.append({"number": 3}))
        with AuditFile.open(path, FixedClock()) as log:
            path.unlink()
            with pytest.raises(StoreUnavailable, match="removed"):
                run(log.append({"number": 4}))

    def test_what_cannot_be_read_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="cannot be read"):
            verify_audit(tmp_path / "nowhere")
        with pytest.raises(FileError, match="cannot be read"):
            list(entries(tmp_path))


class TestFaults:
    def test_a_full_device(self) -> None:
        with AuditFile.open(Path("/dev/full"), FixedClock()) as log, pytest.raises(StoreUnavailable, match="no space"):
            run(log.append({"number": 1}))

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_what_keeps_nothing_is_no_log(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (Path(os.devnull), tmp_path / "pipe"):
            with pytest.raises(StoreUnavailable, match="keeps nothing"):
                AuditFile.open(path, FixedClock())

    def test_a_full_disk_and_room_again(self, path: Path) -> None:
        program = (
            "import asyncio, resource, sys; from pathlib import Path\n"
            "from keel.runtime.ports import StoreUnavailable\n"
            "from keel.store.audit import AuditFile; from tests.fakes.ports import FixedClock\n"
            "log = AuditFile.open(Path(sys.argv[1]), FixedClock())\n"
            "asyncio.run(log.append({'number': 1}))\n"
            "limits = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (Path(sys.argv[1]).stat().st_size + 30, limits[1]))\n"
            "for number in (2, 3):\n"
            "    try: asyncio.run(log.append({'number': number}))\n"
            "    except StoreUnavailable as error: print(error.message)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, limits)\n"
            "asyncio.run(log.append({'number': 4})); log.close()\n"
        )
        words = [sys.executable, "-c", program, str(path)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert (done.stderr, done.returncode) == ("", 0)
        assert done.stdout.count("file too large") == 2
        numbers = [item.event.get("number") for item in entries(path) if isinstance(item, chain.Entry)]
        assert [number for number in numbers if number] == [1, 4]
        assert {code for code, _ in codes(path)} == {"audit-torn"}

    @pytest.mark.parametrize("place", ["", "file/audit.jsonl", "folder"])
    def test_a_place_that_cannot_be_written(self, tmp_path: Path, place: str) -> None:
        (tmp_path / "file").write_text("")
        (tmp_path / "folder").mkdir()
        with pytest.raises(StoreUnavailable):
            AuditFile.open(tmp_path / place, FixedClock())

    def test_writers_killed_at_random_leave_a_chain_that_holds(self, path: Path) -> None:
        program = (
            "import asyncio, sys; from pathlib import Path\n"
            "from keel.store.audit import AuditFile; from tests.fakes.ports import FixedClock\n"
            "log = AuditFile.open(Path(sys.argv[1]), FixedClock(), fsync=False)\n"
            "async def forever():\n"
            "    while True:\n"
            "        await log.append({'text': 'x' * 3000}); print('.', flush=True)\n"
            "asyncio.run(forever())\n"
        )
        acknowledged = 0
        for round_ in range(4):
            words = [sys.executable, "-c", program, str(path)]
            children = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
            for child in children:
                assert child.stdout is not None
                child.stdout.readline()
                time.sleep(0.01 * round_)
                child.send_signal(signal.SIGKILL)
                acknowledged += 1 + len(child.communicate(timeout=60)[0].splitlines())
        assert {code for code, _ in codes(path)} <= {"audit-torn"}
        assert verify_audit(path).head.seq >= acknowledged


class TestWithoutWaiting:
    def test_durable_and_other_events_keep_one_chain_among_threads_and_tasks(self, path: Path) -> None:
        with AuditFile.open(path, FixedClock()) as log, AuditFile.open(path, FixedClock()) as other:

            async def many() -> None:
                logs = (log, other)
                await asyncio.gather(*(logs[at % 2].append({"at": at}, durable=at % 3 == 0) for at in range(200)))

            run(many())
        found = verify_audit(path)
        assert not found.findings
        assert found.head.seq == 200

    def test_what_need_not_wait_is_in_the_file_at_once(self, path: Path) -> None:
        with AuditFile.open(path, FixedClock()) as log:
            run(log.append({"event": "call"}, durable=False))
            assert len(path.read_bytes().splitlines()) == 1

    def test_another_process_that_holds_the_file_is_waited_for_elsewhere(self, path: Path) -> None:
        with AuditFile.open(path, FixedClock()) as log:
            fcntl = pytest.importorskip("fcntl")
            descriptor = os.open(path, os.O_RDWR)

            async def held() -> bool:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                task = asyncio.create_task(log.append({"event": "call"}, durable=False))
                await asyncio.sleep(0.05)
                waits = not task.done()
                fcntl.flock(descriptor, fcntl.LOCK_UN)
                await asyncio.wait_for(task, 5)
                return waits

            assert run(held())
            os.close(descriptor)
        assert not verify_audit(path).findings

    def test_faults_are_the_same(self, path: Path) -> None:
        log = AuditFile.open(path, FixedClock())
        path.unlink()
        with pytest.raises(StoreUnavailable, match="removed"):
            run(log.append({"event": "call"}, durable=False))
        log.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            run(log.append({"event": "call"}, durable=False))
