"""Elementary functions of n numbers in PyTorch and JAX on one core, beside the subject `math`.

Run it as root by `chrt -f 1 taskset -c 1 python3 elementary.py [n]` where numpy and torch or jax are installed; what is missing
is left out. A line is a case and the nanoseconds an element of each, least of 0.1 seconds. PyTorch writes into an array
that is there, where it can; JAX makes a new one.
"""

import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import numpy as np

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None
try:
    import jax

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

NAMES = "exp exp2 expm1 tanh log log1p sin cos tan asin atan erf gelu sigmoid silu softplus pow".split()
WIDE = "exp log tanh sin cos erf pow".split()


def torch_function(name):
    if name == "pow":
        return lambda x, out: torch.pow(x, 1.7, out=out)
    if name in ("gelu", "silu", "softplus"):
        f = getattr(torch.nn.functional, name)
        return lambda x, out: f(x)
    f = getattr(torch, name)
    return lambda x, out: f(x, out=out)


def jax_function(name):
    if name == "gelu":
        return lambda x: jax.nn.gelu(x, approximate=False)
    if name in ("sigmoid", "silu", "softplus"):
        return getattr(jax.nn, name)
    if name == "erf":
        return jax.scipy.special.erf
    if name == "pow":
        return lambda x: x**1.7
    return getattr(jax.numpy, {"asin": "arcsin", "atan": "arctan"}.get(name, name))


def nanoseconds(call, n):
    """The least time of a call, an element."""
    least, start = float("inf"), time.perf_counter()
    call()
    while time.perf_counter() - start < 0.1:
        before = time.perf_counter()
        for _ in range(20):
            call()
        least = min(least, (time.perf_counter() - before) / 20)
    return least / n * 1e9


def argument(name, n, kind):
    """Like that of the subject: between -2 and 2, of logarithms and powers positive, of tan and asin small."""
    x = np.random.default_rng(1).uniform(-2, 2, n).astype(kind)
    if name in ("log", "log1p", "pow"):
        return x + kind(2.5)
    return x * kind(0.25) if name in ("tan", "asin") else x


def measure(name, n, kind):
    x, out = argument(name, n, kind), []
    if torch:
        given = torch.from_numpy(x)
        made, f = torch.empty_like(given), torch_function(name)
        out.append(f"torch {nanoseconds(lambda: f(given, made), n):.3f}")
    if jax:
        given, g = jax.numpy.asarray(x), jax.jit(jax_function(name))
        out.append(f"jax {nanoseconds(lambda: g(given).block_until_ready(), n):.3f}")
    print(f"{name + ('' if kind is np.float32 else '_f64'):14}", *out, flush=True)


n = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
for name in NAMES:
    measure(name, n, np.float32)
for name in WIDE:
    measure(name, n, np.float64)
