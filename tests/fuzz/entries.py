"""Random sessions at the prompt: definitions, redefinitions, updates, loops and panics, run in three ways.

    python3 tests/fuzz/entries.py MELIX FROM TO

Each number is a session of some 30 entries. `melix repl --interpret`, `--compile` and without an option must write the
same, and leave no block of memory. Prints each session that differs, and the number of them at the end.
"""
import os
import random
import subprocess
import sys


class Session:
    def __init__(self, number):
        self.random = random.Random(number)
        self.entries = ["struct P { a: f64, k: int, name: str }", "enum E {\n  No\n  One(x: f64)\n  Many(xs: List[int])\n}"]
        self.functions = []
        self.variables = {}
        for name, value in (("n", "3"), ("s", "0.5 as f64"), ("v", "[1.0 as f64, 2.0, 3.0]"), ("m", "zeros(4, 5) + (1.0 as f64)"),
                            ("l", "list([1, 2, 3])"), ("p", 'P(1.0, 2, "p")'), ("e", "One(2.0)"), ("w", '["a", "b"]')):
            self.entries.append(f"var {name} = {value}")
        for _ in range(30):
            self.entries.append(self.random.choice(
                (self.define, self.define, self.update, self.update, self.update, self.loop, self.loop, self.show,
                 self.show, self.fail, self.rebind, self.call))())
        self.entries += ["n", "s", "v", "m", "l", "p", "e", "w"]

    def number(self, depth=2):
        choice = self.random.randrange(7 if depth > 0 else 3)
        if choice == 0 or not (self.functions or choice != 3):
            return str(self.random.randrange(9))
        if choice == 1:
            return "n"
        if choice == 2:
            return "(len(l) + p.k)"
        if choice == 3 and self.functions:
            return f"{self.random.choice(self.functions)}({self.number(depth - 1)})"
        if choice == 4:
            return f"({self.number(depth - 1)} * {self.number(depth - 1)} % 1000)"
        return f"({self.number(depth - 1)} + {self.number(depth - 1)})"

    def count(self):
        return self.random.choice(("3", "20", "1000", "60000"))

    def define(self):
        name = self.random.choice("fgh")
        known = [f for f in self.functions if f < name]
        inner = f"{self.random.choice(known)}(k % 7)" if known else "k"
        bodies = (f"fn {name}(k: int) -> int = (k * {self.random.randrange(1, 9)} + {inner}) % 1000",
                  f"fn {name}(k: int) -> int {{\n  var t = {inner}\n  for i in 0..{self.count()} {{ t = (t + i * k) % 1000 }}\n  t\n}}",
                  f"fn {name}(k: int) -> int {{\n  assert k < {self.random.randrange(20, 2000)}, \"{{k}} is too much\"\n  {inner} % 1000\n}}",
                  f"fn {name}(k: int) -> int = if k <= 0 {{ 1 }} else {{ ({name}(k - 3) + {inner}) % 1000 }}")
        if name not in self.functions:
            self.functions.append(name)
        return self.random.choice(bodies)

    def update(self):
        return self.random.choice((
            f"n = {self.number()} % 1000", f"s = s * 0.5 + ({self.number()} as f64)", f"v[{self.number()} % 4] += 1.0",
            f"m[{self.number()} % 4, 2] = s", "m = m @ (m.T @ m) / (1.0 + sum(m * m))", f"l.push({self.number()} % 1000)",
            f"p.k = {self.number()} % 1000", f'p = P(s, n, "p{{n}}")', f"e = if n % 2 == 0 {{ One(s) }} else {{ Many(l) }}",
            f'w[n % 3] = "w{{n}}"', "v = v + 1.0"))

    def loop(self):
        body = self.random.choice((
            "n = (n * 7 + i) % 1000", "v[i % 3] += 0.25", "if i % 9973 == 0 { l.push(i % 1000) }", "s = s * 0.5 + 1.0",
            "m[i % 4, i % 5] += 1.0", f"v[if i < {self.random.randrange(70000)} {{ 0 }} else {{ i }}] += 1.0",
            "if i % 7919 == 0 { e = Many(l) }", 'if i % 15000 == 0 { w[i % 2] = "{w[i % 2].len()}" }', "p.a += 0.5"))
        return f"for i in 0..{self.count()} {{ {body} }}"

    def show(self):
        return self.random.choice(("v", "m", "(n, s)", "p", "e", "w", "l", "sum(v)", "m @ m.T", "[for x in v if x > 2: x]", "v.mean()",
                                   "grad(x => sum(x * x))(v)", "match e { No => 0, One(_) => 1, Many(xs) => xs.len() }"))

    def call(self):
        return f"let r{self.random.randrange(3)} = {self.number(3)}"

    def fail(self):
        return self.random.choice(("v[n + 3]", 'panic("stop {n}")', "assert n < 0", "[for i in 0..50000: v[i]]", "l[100000]", "n / (n - n)"))

    def rebind(self):
        return self.random.choice(("var n = 5", "var s = 2.0 as f64", "var l = list([n, n])", "var v = [s, s, s, s]", "let z = v",
                                   "var w = [p.name, p.name]"))


def run(melix, way, text):
    environment = dict(os.environ, MELIX_STATS="1", MELIX_HISTORY="")
    try:
        done = subprocess.run([melix, "repl", *way], input=text.encode(), capture_output=True, env=environment, timeout=120)
    except subprocess.TimeoutExpired:
        return "no end", ""
    errors, _, stats = done.stderr.decode(errors="replace").rpartition("melix: live blocks ")
    return f"status {done.returncode}\n{done.stdout.decode(errors='replace')}{errors}", stats.split(",")[0]


def main(melix, first, last):
    failed = 0
    for number in range(first, last):
        text = "\n".join(Session(number).entries) + "\n"
        expected, left = run(melix, ["--interpret"], text)
        for way in ([], ["--compile"]):
            found, blocks = run(melix, way, text)
            if found == expected and blocks == "0":
                continue
            failed += 1
            print(f"session {number} {' '.join(way)}: {blocks} blocks left")
            for a, b in zip(expected.splitlines(), found.splitlines()):
                if a != b:
                    print(f"  interpreted: {a}\n  found:       {b}")
                    break
    print(f"{last - first} sessions, {failed} differences")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
