"""generate.py SEED: prints a random program of functions for one row, which run on many.

Bodies have branches, matches, loops of a count of the row, whiles, early exits, calls and recursion, each with
products of a row and a matrix, which the row may choose, and checks of what they compute; in some programs checks fail.
Numbers are small and whole, so sums are exact in any order. It prints values and gradients.
"""
import random, sys

rand = random.Random(int(sys.argv[1]))
size = 16
counters = 0
helpers = []
checks = rand.random() < 0.6
fails = checks and rand.random() < 0.4


def condition():
    return rand.choice([
        f"h[{rand.randrange(size)}] > {rand.randint(-3, 3)}",
        f"n % {rand.randint(2, 4)} == {rand.randint(0, 2)}",
        f"sum(h) > {rand.randint(-20, 20)}",
        f"n > {rand.randint(0, 30)}",
        f"x[n % {size}] < 0",
        f"h[n % {size}] > x[{rand.randrange(size)}]",
    ] + [f"h[{place()}] > 0"] * checks)


def place(h="h", n="n"):
    """An index that is computed; out of range now and then where programs fail."""
    end = size + rand.choice([0, 0, 1, 2]) * fails
    return rand.choice([f"(argmax({h}) + {n}) % {end}", f"({n} * 5) % {end}", f"(abs({h}[0]) as int * 7 + {n}) % {end}"])


def check():
    bound = rand.choice([5, 20, 60]) if fails else 1000
    return rand.choice([
        f"h = h + v[{place()}]",
        f'assert sum(h) < {bound}, "sum of row {{n}}"',
        f"assert h[{place()}] < {bound}",
        f"h = h + ((n + 5) / (argmax(h) + {rand.choice([0, 1]) if fails else 1}) % 3) as f32 * x",
    ])


def choice():
    return rand.choice(["n % 5", "(n * 3 + 1) % 5", f"argmax(h[0..{rand.randint(2, 5)}])", f"{rand.randrange(5)}",
                        f"argmax((x @ u[{rand.randrange(5)}])[0..5])"])


def row(depth, calls):
    kind = rand.randrange(12)
    if kind < 3:
        return f"clamp({rand.choice('hx')} @ w, -4, 4)"
    if kind < 6:
        return ["h @ v", "h + x", "2 * h"][kind - 3]
    if kind == 6 and depth < 2:
        return f"(if {condition()} {{ {row(depth + 1, calls)} }} else {{ {row(depth + 1, calls)} }})"
    if kind == 7 and calls and helpers:
        return f"{rand.choice(helpers)}(h, x, n, k, w, v, u)"
    if kind == 8 and calls:
        return f"deep(h, n % {rand.randint(2, 6)}, w)"
    if kind >= 10:
        product = f"{rand.choice('hx')} @ u[{choice()}]"
        return rand.choice([product, f"clamp({product}, -2, 2) @ u[{choice()}]", f"{product} + {rand.choice('hx')} @ v"])
    return f"{rand.choice('hx')} @ v + x"


def counter():
    global counters
    counters += 1
    return f"i{counters}"


def statement(depth, calls):
    if checks and rand.random() < 0.25:
        return check()
    kind = rand.randrange(11) if depth < 2 else 4
    next_row = lambda: f"h = clamp({row(depth + 1, calls)}, -3, 3)"
    if kind == 0:
        return f"if {condition()} {{ h = {row(depth, calls)} }} else {{ h = {row(depth, calls)} }}"
    if kind == 1:
        return f"if {condition()} {{ return {row(depth, calls)} }}"
    if kind == 2:
        arms = [row(depth, calls) for _ in range(3)]
        return f"h = match k {{ A => {arms[0]}, B(s) => s * ({arms[1]}), C => {arms[2]} }}"
    if kind == 3 and depth < 1:
        return f"for t in 0..{rand.randint(1, 2)} {{ {statement(depth + 1, calls)} }}"
    if kind in (5, 6):
        return f"for t in 0..n % {rand.randint(2, 6)} {{ {next_row()}\n {statement(depth + 1, calls)} }}"
    if kind == 7:
        i, more = counter(), rand.choice(["", f" and {condition()}"])
        return (f"var {i} = 0\n while {i} < n % {rand.randint(2, 5)} + 1{more} {{ {next_row()}\n"
                f" {i} += {rand.randint(1, 2)} }}")
    if kind == 8:
        i, more = counter(), rand.choice(["", f"if {condition()} {{ continue }}\n h = h + x"])
        return (f"var {i} = 0\n loop {{ {i} += 1\n {next_row()}\n"
                f" if {condition()} or {i} == {rand.randint(1, 5)} {{ break }}\n {more} }}")
    return f"h = {row(depth, calls)}"


def body(statements, calls):
    return "\n  ".join(statement(0, calls) for _ in range(rand.randint(1, statements)))


functions = ""
for number in range(rand.randint(0, 2)):
    functions += f"""fn g{number}(x: f32[16], y: f32[16], n: int, k: K, w: f32[16, 16], v: f32[16, 16], u: f32[5, 16, 16]) -> f32[16] {{
  var h = x + y
  {body(3, False)}
  clamp(h, -4, 4)
}}
"""
    helpers.append(f"g{number}")
main = body(4, True)
two = rand.random() < 0.3
rows = "[for i in 0..b, j in 0..2: f(x[i], i + j, ks[i], w, v, u)]" if two else "[for i in 0..b: f(x[i], i, ks[i], w, v, u)]"
print(f"""enum K {{ A, B(s: f32), C }}
enum T {{ L(a: f32), N(p: T, q: T) }}
fn deep(x: f32[16], n: int, w: f32[16, 16]) -> f32[16] {{
  if n == 0 {{ return x }}
  {f"let h = x{chr(10)}  {check().replace('h = h', 'let y = h').replace('v[', 'w[')}" if checks else ""}
  let a = deep(clamp(x @ w, -2, 2), n - 1, w)
  {rand.choice(["clamp(a @ w + x, -2, 2)", "if a[0] > 0 { a } else { deep(clamp(a + x, -2, 2), n / 2, w) }"])}
}}
fn grown(n: int, s: int) -> T {{
  if n <= 1 {{ return L((s % 5 - 2) as f32) }}
  let a = 1 + s * 7 % (n - 1)
  N(grown(a, s + 1), grown(n - a, s + 3))
}}
fn encoded(t: T, x: f32[16], w: f32[16, 16], v: f32[16, 16]) -> f32[16] = match t {{
  L(a) => a * {f"(x + v[{place('x', '(a as int + 3)')}])" if checks else "x"}
  N(p, q) => clamp(encoded(p, x, w, v) @ w + {rand.choice(["encoded(q, x, w, v) @ v", "encoded(q, clamp(x @ v, -1, 1), w, v)"])}, -3, 3)
}}
{functions}fn f(x: f32[16], n: int, k: K, w: f32[16, 16], v: f32[16, 16], u: f32[5, 16, 16]) -> f32[16] {{
  var h = x
  {main}
  h
}}
fn mat(n: int, m: int, s: int) -> f32[n, m] = [for i in 0..n, j in 0..m: ((i * 31 + j * 17 + s * 7 + i * j) % 3 - 1) as f32]
fn main(b: int = {rand.choice([0, 1, 3, 4, 17, 40])}) {{
  let w = mat(16, 16, 1)
  let v = mat(16, 16, 2)
  let u: f32[5, 16, 16] = [for e in 0..5: mat(16, 16, 4 + e)]
  let x = mat(b, 16, 3)
  let ks = [for i in 0..b: if i % 3 == 0 {{ A }} else if i % 3 == 1 {{ B((i % 5) as f32) }} else {{ C }}]
  let y = {rows}
  print(sum(y), [for i in 0..b: sum(y[i{', 1' if two else ''}])])
  let ts = [for i in 0..b: grown(i % 9, i)]
  let z = [for i in 0..b: encoded(ts[i], x[i], w, v)]
  print(sum(z), [for i in 0..b: sum(z[i])])
  let (gw, gv, gu) = grad(((w, v, u)) => sum([for i in 0..b: clamp(f(x[i], i, ks[i], w, v, u), -9, 9)]))((w, v, u))
  print(sum(gw), sum(gv), gw[3], gv[5], sum(gu, over: (1, 2)), gu[2, 4])
  print(grad(w => sum([for i in 0..b: encoded(ts[i], x[i], w, v)]))(w)[2])
}}""")
