# Programs of any length, for the benchmark of compile time: `awk -v kind=KIND -v n=N [-v gradient=1] -f scale.awk`.
#   ops       N functions that nothing connects: loops, branches, a `while`, arrays; about 61 ops of Core each
#   blocks    the same statements, all of them in one function
#   scalars   N functions of a float where each calls the one before
#   arrays    the same of arrays of a size that is not known
#   lines     N functions of four lines where each calls the one before
#   newton    one `while`, differentiated N times
#   straight  one function of N statements
# With `gradient` the program asks for the derivative of the last function.

function statements(k) {
  print "  var s" k " = a"
  print "  for i in 0..N { if x[i] > s" k " { s" k " += sin(x[i]) * a } else { s" k " -= x[i] / (a + " k ") } }"
  print "  let y" k " = [for i: x[i] * s" k " + cos(x[i])]"
  print "  var t" k " = " k " / 8"
  print "  while t" k " < 3 { t" k " = t" k " + y" k "[0]^2 + 1 }"
}

function ops(k) {
  for (k = 1; k <= n; k++) {
    print "fn part" k "(x: f64[N], a: f64) -> f64 {"
    statements(k)
    print "  sum(for i: y" k "[i] * x[i]) * s" k " + t" k
    print "}"
  }
  print "fn last(x: f64[N]) -> f64 {"
  print "  var total = 0.0"
  for (k = 1; k <= n; k++) print "  total += part" k "(x, " k ")"
  print "  total"
  print "}"
  main_of_arrays()
}

function blocks(k) {
  print "fn last(x: f64[N]) -> f64 {"
  print "  var a = 1.0"
  for (k = 1; k <= n; k++) {
    statements(k)
    print "  a = sum(for i: y" k "[i] * x[i]) * s" k " + t" k
  }
  print "  a"
  print "}"
  main_of_arrays()
}

function main_of_arrays() {
  print "fn main(n: int = 3) {"
  print "  let x = [for i in 0..n: i as f64 / 8]"
  print gradient ? "  print(grad(last)(x))" : "  print(last(x))"
  print "}"
}

function main_of_scalars() {
  print "fn main(x: f64 = 0.25) { print(" (gradient ? "grad(last)" : "last") "(x)) }"
}

function scalars(k) {
  print "fn f0(x: f64) -> f64 = x * 0.5 + 1"
  for (k = 1; k <= n; k++) print "fn f" k "(x: f64) -> f64 = sin(f" k - 1 "(x)) * 0.5 + x"
  print "fn last(x: f64) -> f64 = f" n "(x)"
  main_of_scalars()
}

function arrays(k) {
  print "fn f0(x: f64[N]) -> f64[N] = [for i: x[i] * 0.5 + 1]"
  for (k = 1; k <= n; k++)
    print "fn f" k "(x: f64[N]) -> f64[N] { let y = f" k - 1 "(x); [for i: y[i] * 0.5 + x[i]] }"
  print "fn last(x: f64[N]) -> f64 = sum(f" n "(x))"
  main_of_arrays()
}

function lines(k) {
  print "fn f0(x: f64) -> f64 = x * 0.5 + 1"
  for (k = 1; k <= n; k++) {
    print "fn f" k "(x: f64) -> f64 {"
    print "  let y = f" k - 1 "(x) * 0.5"
    print "  if y > x { y - x } else { x - y * " k " }"
    print "}"
  }
  print "fn last(x: f64) -> f64 = f" n "(x)"
  main_of_scalars()
}

function newton(k) {
  print "fn d0(a: f64) -> f64 {"
  print "  var x = a"
  print "  while abs(x * x - a) > 1e-12 { x = x - (x * x - a) / (2 * x) }"
  print "  x"
  print "}"
  for (k = 1; k <= n; k++) print "fn d" k "(a: f64) -> f64 = grad(d" k - 1 ")(a)"
  print "fn last(a: f64) -> f64 = d" n "(a)"
  main_of_scalars()
}

function straight(k) {
  print "fn last(x: f64) -> f64 {"
  print "  let y0 = x"
  for (k = 1; k <= n; k++) print "  let y" k " = sin(y" k - 1 ") * 0.5 + x"
  print "  y" n
  print "}"
  main_of_scalars()
}

BEGIN {
  if (kind == "ops") ops()
  else if (kind == "blocks") blocks()
  else if (kind == "scalars") scalars()
  else if (kind == "arrays") arrays()
  else if (kind == "lines") lines()
  else if (kind == "newton") newton()
  else if (kind == "straight") straight()
  else { print "scale.awk: unknown kind " kind > "/dev/stderr"; exit 2 }
}
