# SPDX-License-Identifier: Apache-2.0
"""What every test here prints and how it ends: 0, 1 with the problem, or 77 with the reason why it was skipped."""
import sys
import time

SKIPPED = 77


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def check(condition, what):
    if not condition:
        raise AssertionError(what)
    print("ok:", what, flush=True)


def wait_for(seconds, what, condition):
    end = time.time() + seconds
    while time.time() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {what}")
