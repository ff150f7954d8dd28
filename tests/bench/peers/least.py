"""The least time of a call, for the scripts beside this one."""
import math
import time


def least(call, seconds):
    call()
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
