# What the project has set itself limits for: part of tests/bench/run, which has `work`, `melix`, `failed`, `median_ms`.

# report NAME VALUE LIMIT UNIT
report() {
  local verdict
  verdict=$(awk -v v="$2" -v l="$3" 'BEGIN { print (v + 0 <= l + 0) ? "ok" : "OVER" }')
  printf '%-44s %10s %-6s limit %-8s %s\n' "$1" "$2" "$4" "$3" "$verdict"
  [[ $verdict == ok ]] || failed=1
}

bench_start() {
  printf '%-44s %10s ms\n' "melix --version" "$(median_ms 21 "$melix" --version)"
  report "hello world from source" "$(median_ms 21 "$melix" run tests/bench/hello.mlx)" 60 ms
}

bench_executable() {
  report "melix build examples/digits.mlx" "$(median_ms 5 "$melix" build examples/digits.mlx -o "$work/digits")" 1000 ms
  "$melix" build --strip tests/bench/hello.mlx -o "$work/hello"
  report "start of an executable" "$(median_ms 51 "$work/hello")" 3 ms
  report "size of hello, stripped" "$(($(stat -c %s "$work/hello") / 1000))" 300 kB
}

# chain LENGTH ORDER: a program that differentiates LENGTH calls of one body, ORDER times
chain() {
  echo 'fn body(x: f64[N], s: f64) -> f64[N] = [for i: tanh(x[i] * s) + x[i] * x[i]]'
  echo 'fn chain(x: f64[N]) -> f64 {'
  echo '  let x0 = x'
  for ((k = 1; k <= $1; k++)); do echo "  let x$k = body(x$((k - 1)), 0.5)"; done
  echo "  sum(for i: x$1[i])"
  echo '}'
  echo 'fn slope(x: f64[N]) -> f64 { let g = grad(chain)(x); sum(for i: g[i]) }'
  local function=chain
  [[ $2 == 1 ]] || function=slope
  echo "fn main(n: int) { let x = [for i in 0..n: i as f64 / 8]; print(\"{grad($function)(x)[0]}\") }"
}

# operations LENGTH ORDER: how many operations the derivative of a chain has
operations() {
  chain "$1" "$2" > "$work/chain.mlx"
  "$melix" show --stage opt --count "$work/chain.mlx" | awk '/ in all$/ { print $1 }'
}

# uses HEAD LINE TAIL: a program of 1,000 uses of a macro
uses() {
  echo "$1"
  for ((k = 0; k < 1000; k++)); do echo "$2"; done
  echo "$3"
}

bench_expand() {
  quiet_report
  uses $'use meta.{unroll}\nfn f(n: int) -> int {\n  var s = 0' '  @unroll(4) for i in 0..n { s += i }' \
    $'  s\n}\nprint(f(8))' > "$work/unroll.mlx"
  uses $'use meta.{einsum}\nlet a = [[1.0, 2.0], [3.0, 4.0]]\nvar s = 0.0' \
    's += @einsum("ij,jk->ik", a, a)[0, 0]' 'print(s)' > "$work/einsum.mlx"
  local macro
  for macro in unroll einsum; do
    report "expansion of 1,000 @$macro" \
      "$(median_ms 5 "${quiet[@]}" "$melix" show --stage expand "$work/$macro.mlx")" 300 ms
  done
}

bench_size() {
  local order long short
  for order in 1 2; do
    long=$(operations 40 $order)
    short=$(operations 20 $order)
    echo "operations of a chain of 20 and of 40 calls, order $order: $short, $long"
    report "growth of derivatives, order $order" "$(awk -v a="$long" -v b="$short" 'BEGIN { printf "%.3f", a / b }')" 2.1 ""
  done
}

bench_updates() {
  quiet_report
  local mode small large
  "$melix" build tests/bench/update_adjoint.mlx -o "$work/updates"
  for mode in value jvp grad grad_of_grad grad_of_rows grad_of_payload; do
    small=$("${quiet[@]}" "$work/updates" $mode 65536)
    large=$("${quiet[@]}" "$work/updates" $mode 262144)
    report "update of one element, $mode: t(4n)/t(n)" "$(awk -v a="$large" -v b="$small" 'BEGIN { printf "%.2f", a / b }')" 5 ""
  done
}

bench_interpreter() {
  quiet_report
  local rate
  rate=$("${quiet[@]}" "$melix" run --interpret tests/bench/interpreter.mlx 2> "$work/output")
  report "interpreter: time of 20 M ops" "$(awk -v r="$rate" 'BEGIN { printf "%.2f", 20 / r }')" 1 s
}

