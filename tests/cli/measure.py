# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and says what it took.

As a program, `measure.py COMMAND...` prints the same as JSON. That is for callers that are large
themselves: a child's peak counts what its parent had in memory when it was started.
"""

import json
import os
import subprocess
import sys
import tempfile
import time


def run_measured(command, stdin=subprocess.DEVNULL, **options):
    """code, out, err (bytes), seconds of the clock and of the processor, peak in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=err, **options)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return {
            "code": child.returncode,
            "out": out.read(),
            "err": err.read(),
            "seconds": seconds,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "peak": used.ru_maxrss * 1024,
        }


def run_measured_from_small(command, stdin=subprocess.DEVNULL):
    """The same, started by a small process; out and err are texts."""
    done = subprocess.run(
        [sys.executable, "-S", __file__, *map(str, command)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    measured = run_measured(sys.argv[1:], stdin=None)
    print(json.dumps(measured | {key: measured[key].decode() for key in ("out", "err")}))
