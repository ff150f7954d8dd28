"""compare.py KIND MELIX FROM TO [OTHER]: runs random programs of these seeds.

KIND is a folder here with a `generate.py`: `records` or `rows`. MELIX runs each program five ways, once on the
emulated device and once with its rows in tiles. It must print what OTHER prints, another build, else what MELIX
prints without optimising, and panic with the same words; either runs an example at a time. No block may be left at
the end. Programs that differ are kept in the folder `differing` here, and the status is 1.
"""
import os, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))


def run(melix, flags, program, threads, device={}):
    env = dict(os.environ, MELIX_STATS="1", MELIX_THREADS=str(threads), **device)
    try:
        done = subprocess.run([melix, "run", *flags, program], capture_output=True, timeout=120, env=env)
    except subprocess.TimeoutExpired:
        return "no end", "", False
    lines = done.stderr.decode(errors="replace").splitlines()
    stats = next((l for l in lines if l.startswith("melix: live blocks")), "")
    left = stats.count("live blocks") != stats.count("live blocks 0,")
    panic = next((l for l in lines if "panic:" in l), "")
    return done.returncode, done.stdout.decode(errors="replace") + panic, left


kind, melix, first, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
other, plain = (sys.argv[5], []) if len(sys.argv) > 5 else (melix, ["-O0"])
differing, refused = 0, 0
for seed in range(first, end):
    text = subprocess.run([sys.executable, f"{here}/{kind}/generate.py", str(seed)], capture_output=True, text=True).stdout
    program = f"/tmp/{kind}_{os.getpid()}.mlx"
    open(program, "w").write(text)
    want = run(other, plain, program, 2, {"MELIX_LANES": "off"})
    refused += want[0] != 0
    emulated = {"MELIX_DEVICE": "emulated", "MELIX_DEVICE_SEED": str(seed)}
    tiled = {"MELIX_LANES": str(1 + seed % 3)}
    ways = (([], {}), (["--interpret"], {}), ([["-O0"], ["--strict-fp"], ["--check-overflow"]][seed % 3], {}),
            (["--device", "gpu"], emulated), ([], tiled))
    for flags, settings in ways:
        got = run(melix, flags, program, 1 + seed % 4, settings)
        if got[:2] != want[:2] or got[2]:
            differing += 1
            os.makedirs(here + "/differing", exist_ok=True)
            open(f"{here}/differing/{kind}_{seed}.mlx", "w").write(text)
            print(seed, flags, settings, want[0], got[0], "blocks are left" if got[2] else "", flush=True)
print(f"{end - first} programs, {refused} refused, {differing} runs differ")
sys.exit(differing > 0)
