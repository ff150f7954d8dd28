"""generate.py SEED: prints a random program of structs, enums, Options, arrays and Lists of them.

All numbers are dyadic, so sums are exact in any order, and every way to run the program prints the same.
"""
import random, sys
R = random.Random(int(sys.argv[1]))
decls, funs = [], []
class T:
    """A type: its text, how to make one of `i`, its worth as f64, itself scaled by `w`."""
    def __init__(s, text, make, worth, scale): s.text, s.make, s.worth, s.scale = text, make, worth, scale
def scalar(text, make, worth, scale): return T(text, make, worth, scale)
f64 = T('f64', lambda i: f'0.5 * ({i} as f64)', lambda x: x, lambda x, w: f'{x} * {w}')
ints = T('int', lambda i: f'{i} * 3 - 4', lambda x: f'({x} as f64)', lambda x, w: f'{x}')
bools = T('bool', lambda i: f'{i} % 2 == 0', lambda x: f'(if {x} {{ 1.0 }} else {{ 0.0 }})', lambda x, w: f'not {x}')
strs = T('str', lambda i: f'"t{{{i}}}"', lambda x: f'(len({x}) as f64)', lambda x, w: f'{x}')
def vec(k): return T(f'f64[{k}]', lambda i: '[' + ', '.join(f'{i} as f64 + {j}.0' for j in range(k)) + ']', lambda x: f'sum({x})', lambda x, w: f'({w} * {x})')
lists = T('List[f64]', lambda i: f'list([for q in 0..({i}) % 3: 1.0 * q])', lambda x: f'sum(for q in {x}: q)', lambda x, w: f'list([for q in 0..len({x}): {x}[q] * {w}])')
pool = [f64, f64, f64, ints, bools, strs, vec(2), vec(3), lists]
n_types = 0
def named(name, text=None):
    text = text or name
    return T(text, lambda i: f'make_{name}({i})', lambda x: f'worth_{name}({x})', lambda x, w: f'scale_{name}({x}, {w})')
def add_struct():
    global n_types; n_types += 1
    name = f'S{n_types}'; fs = [R.choice(pool) for _ in range(R.randint(1, 5))]
    decls.append(f'struct {name} {{ ' + ', '.join(f'f{k}: {t.text}' for k, t in enumerate(fs)) + ' }')
    funs.append(f'fn make_{name}(i: int) -> {name} = {name}(' + ', '.join(t.make(f'(i + {k})') for k, t in enumerate(fs)) + ')')
    funs.append(f'fn worth_{name}(x: {name}) -> f64 = ' + ' + '.join(t.worth(f'x.f{k}') for k, t in enumerate(fs)))
    funs.append(f'fn scale_{name}(x: {name}, w: f64) -> {name} = {name}(' + ', '.join(t.scale(f'x.f{k}', 'w') for k, t in enumerate(fs)) + ')')
    return named(name), fs
def add_enum():
    global n_types; n_types += 1
    name = f'E{n_types}'; cs = [[R.choice(pool) for _ in range(R.choice([0, 0, 1, 1, 2, 3]))] for _ in range(R.randint(1, 4))]
    decls.append(f'enum {name} {{ ' + ', '.join(f'{name}C{c}' + ('(' + ', '.join(f'f{k}: {t.text}' for k, t in enumerate(fs)) + ')' if fs else '') for c, fs in enumerate(cs)) + ' }')
    def case(c, args): return f'{name}C{c}' + ('(' + ', '.join(args) + ')' if args else '')
    arms = '\n'.join(f'  {c if c < len(cs) - 1 else "_"} => ' + case(c, [t.make(f'(i + {k})') for k, t in enumerate(fs)]) for c, fs in enumerate(cs))
    funs.append(f'fn make_{name}(i: int) -> {name} = match i % {len(cs)} {{\n{arms}\n}}')
    def pat(c, fs): return case(c, [f'v{k}' for k in range(len(fs))])
    funs.append(f'fn worth_{name}(x: {name}) -> f64 = match x {{\n' + '\n'.join(f'  {pat(c, fs)} => ' + (' + '.join([f'{c}.0'] + [t.worth(f'v{k}') for k, t in enumerate(fs)])) for c, fs in enumerate(cs)) + '\n}')
    funs.append(f'fn scale_{name}(x: {name}, w: f64) -> {name} = match x {{\n' + '\n'.join(f'  {pat(c, fs)} => ' + case(c, [t.scale(f'v{k}', 'w') for k, t in enumerate(fs)]) for c, fs in enumerate(cs)) + '\n}')
    return named(name)
def add_wrapped(t):
    global n_types; n_types += 1
    name = f'W{n_types}'; how = R.choice(['option', 'option', 'tuple', 'array', 'option_array'])
    if how == 'option':
        text = f'Option[{t.text}]'
        funs.append(f'fn make_{name}(i: int) -> {text} = if i % 3 == 1 {{ None }} else {{ Some({t.make("i")}) }}')
        funs.append(f'fn worth_{name}(x: {text}) -> f64 = match x {{\n  Some(v) => {t.worth("v")}\n  None => 1\n}}')
        funs.append(f'fn scale_{name}(x: {text}, w: f64) -> {text} = match x {{\n  Some(v) => Some({t.scale("v", "w")})\n  None => None\n}}')
    elif how == 'tuple':
        text = f'({t.text}, int)'
        funs.append(f'fn make_{name}(i: int) -> {text} = ({t.make("i")}, i)')
        funs.append(f'fn worth_{name}(x: {text}) -> f64 = {t.worth("x.0")} + (x.1 as f64)')
        funs.append(f'fn scale_{name}(x: {text}, w: f64) -> {text} = ({t.scale("x.0", "w")}, x.1)')
    elif how == 'array':
        k = R.randint(1, 3); text = f'{t.text}[{k}]'
        if '[' in t.text and t.text.startswith('f64['): return t
        funs.append(f'fn make_{name}(i: int) -> {text} = [for q in 0..{k}: {t.make("(i + q)")}]')
        funs.append(f'fn worth_{name}(x: {text}) -> f64 = sum(for v in x: {t.worth("v")})')
        funs.append(f'fn scale_{name}(x: {text}, w: f64) -> {text} = [for q in 0..{k}: {t.scale("x[q]", "w")}]')
    else:
        text = f'Option[{t.text}][2]'
        funs.append(f'fn make_{name}(i: int) -> {text} = [for q in 0..2: if (i + q) % 2 == 1 {{ None }} else {{ Some({t.make("i")}) }}]')
        funs.append(f'fn worth_{name}(x: {text}) -> f64 = sum(for v in x: match v {{\n  Some(u) => {t.worth("u")}\n  None => 2\n}})')
        funs.append(f'fn scale_{name}(x: {text}, w: f64) -> {text} = [for v in x: match v {{\n  Some(u) => Some({t.scale("u", "w")})\n  None => None\n}}]')
    return named(name, text)
structs = []
for _ in range(R.randint(2, 5)):
    k = R.choice('sew')
    if k == 's':
        t, fs = add_struct(); structs.append((t, fs)); pool.append(t); pool.append(t)
    elif k == 'e': t = add_enum(); pool.append(t); pool.append(t)
    else: t = add_wrapped(R.choice(pool)); pool.append(t)
top, fs = add_struct() if R.random() < .5 else (add_enum(), None)
t = top.text
funs.append(f'fn total(xs: {t}[N], w: f64[N]) -> f64 = sum(for i in 0..N: w[i] * {top.worth(top.scale("xs[i]", "w[i]"))})')
funs.append(f'fn twice(xs: {t}[N], w: f64[N]) -> f64 = sum(for i in 0..N: w[i] * w[i] * {top.worth(top.scale(top.scale("xs[i]", "w[i]"), "w[i]"))})')
funs.append(f'fn deep(xs: {t}[N], i: int) -> f64 = if i >= N {{ 0 }} else {{ {top.worth("xs[i]")} + deep(xs, i + 1) }}')
funs.append(f'fn pick(xs: {t}[N], i: int, w: f64) -> {t} = if i >= N {{ {top.make("7")} }} else if {top.worth("xs[i]")} > 3 {{ {top.scale("xs[i]", "w")} }} else {{ pick(xs, i + 1, w) }}')
funs.append(f'fn find(xs: {t}[N], least: f64) -> Option[{t}] {{\n  for x in xs {{\n    if {top.worth("x")} > least {{ return Some(x) }}\n  }}\n  None\n}}')
funs.append(f'fn change(inout xs: {t}[N], k: int, w: f64) {{\n  for i in 0..N {{\n    if i % 2 == k {{ xs[i] = {top.scale("xs[(i + 1) % N]", "w")} }}\n  }}\n}}')
funs.append(f'fn carried(xs: {t}[N], w: f64[N]) -> f64 {{\n  var at: Option[{t}] = None\n  var s: f64 = 0\n  for i in 0..N {{\n    if let Some(p) = at {{ s += w[i] * {top.worth("p")} }}\n    if i % 2 == 0 {{ at = Some({top.scale("xs[i]", "w[i]")}) }} else if i % 3 == 0 {{ at = None }}\n  }}\n  s\n}}')
funs.append(f'fn until(xs: {t}[N], w: f64[N], most: f64) -> f64 {{\n  var s: f64 = 0\n  var i = 0\n  var last = xs[0]\n  while i < N and s < most {{\n    last = {top.scale("xs[i]", "w[i]")}\n    s += {top.worth("last")} * w[i]\n    i += 1\n  }}\n  s\n}}')
body = []
def P(s): body.append('  ' + s)
P(f'var xs: {t}[n] = [for i in 0..n: {top.make("i")}]')
P('let w = [for i in 0..n: 0.5 * (1 + i % 3)]')
lines = [
  ['print(xs)'], ['print(xs[n - 1], len(xs))'], ['print(total(xs, w), deep(xs, 0))'],
  ['print(grad(total, wrt: w)(xs, w))'], ['print(grad(twice, wrt: w)(xs, w))'], ['print(grad(v => sum(grad(twice, wrt: w)(xs, v)))(w))'],
  ['print(jvp(v => twice(xs, v), w, w).1)'],
  ['change(&xs, n % 2, 2)', 'print(xs)'], ['print(pick(xs, 0, 0.5), find(xs, 2), find(xs, 1e6))'],
  ['print(carried(xs, w), grad(carried, wrt: w)(xs, w))'], ['print(until(xs, w, 6), grad(v => until(xs, v, 6))(w))'],
  ['let (a, b) = (xs[0], xs[n - 1])', 'xs[0] = b', 'xs[n - 1] = a', 'print(xs[0])'],
  [f'let kept = [for x in xs if {top.worth("x")} > 2: x]', 'print(len(kept), kept)'],
  ['var ls = list(xs)', 'push(&ls, xs[0])', f'ls[0] = {top.make("11")}', 'print(ls)', f'print(sum(for x in ls: {top.worth("x")}), len(array(ls)), array(ls)[len(ls) - 1])'],
  [f'let m = [for i in 0..2, j in 0..n: {top.make("(i + j)")}]', f'print(m[1], sum(for i, j: {top.worth("m[i, j]")}))'],
  ['print(xs[1..], xs[0..1])'], [f'let os = [for i in 0..n: if i % 2 == 0 {{ Some(xs[i]) }} else {{ None }}]', 'print(os)'],
  [f'let ts = [for i in 0..n: (xs[i], i)]', 'print(ts[n - 1], sum(for q in ts: q.1))'],
  [f'let fs = [for i in 0..n: (v: f64) => v * {top.worth("xs[i]")}]', 'print(sum(for f in fs: f(2.0)))'],
  [f'var d = ["a": xs[0], "b": xs[n - 1]]', f'd["c"] = {top.make("5")}', 'print(d["c"], len(d))'],
  [f'let none: {t}[0] = [for i in 0..0: {top.make("i")}]', 'print(none, total(none, []))'],
]
if fs:
    k = next((k for k, f in enumerate(fs) if f.text == 'f64'), None)
    if k is not None:
        lines.append([f'for i in 0..n {{ xs[i].f{k} += 1.5 * i }}', f'print(xs[n - 1].f{k}, [for x in xs: x.f{k}])'])
        lines.append([f'let g = grad(ys => total(ys, w))(xs)', f'print([for q in g: q.f{k}])'])
R.shuffle(lines)
for ls in lines[:R.randint(6, 14)]:
    P('if n > 0 {'); [P('  ' + l) for l in ls]; P('}')
print('\n'.join(decls)); print('\n'.join(funs))
print(f'fn main(n: int = {R.choice([1, 2, 3, 4, 5])}) {{\n' + '\n'.join(body) + '\n}')
