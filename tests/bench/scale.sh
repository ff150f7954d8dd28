# Compile time against the length of a program: part of tests/bench/run, which has `work`, `melix` and `failed`.
# Part `aims`: what somebody waits for, with all processors. The others: a line a length, on one processor: its time,
# peak memory, and the ratio to the length before with its aim. A run that does not end in scale_limit seconds of
# processor time, takes more than scale_memory kB or fails is a failure that is printed.

scale_limit=${SCALE_LIMIT:-60}
scale_memory=$((12 * 1024 * 1024))

# scale_generate KIND N GRADIENT: writes the program and prints where
scale_generate() {
  awk -v kind="$1" -v n="$2" -v gradient="$3" -f tests/bench/scale.awk > "$work/$1.mlx"
  echo "$work/$1.mlx"
}

# scale_measure COMMAND...: sets `took` (seconds of the processor, or why there are none) and `peak` (MB)
scale_measure() {
  local status=0
  (
    ulimit -t "$scale_limit" -v "$scale_memory" -c 0
    exec "${quiet[@]}" /usr/bin/time -o "$work/times" -f '%U %S %M' "$@" > "$work/output" 2> "$work/errors"
  ) || status=$?
  read -r took peak < <(tail -n 1 "$work/times" | awk '{ printf "%.2f %d\n", $1 + $2, $3 / 1000 }')
  if awk -v t="$took" -v l="$scale_limit" 'BEGIN { exit !(t >= l - 0.5) }'; then
    took="not in ${scale_limit} s"
  elif [[ $status -ne 0 ]]; then
    took="failed: $(tail -n 1 "$work/errors" | cut -c 1-60)"
  fi
}

# scale_line NAME N TOOK PEAK RATIO AIM
scale_line() {
  local verdict=ok took="$3 s"
  if [[ ! $3 =~ ^[0-9.]+$ ]]; then
    verdict=FAILED took=$3
  elif [[ $5 != - ]] && awk -v r="$5" -v a="$6" 'BEGIN { exit !(r > a) }'; then
    verdict=OVER
  fi
  printf '%-44s %6s %12s %6s MB   t/t(before) %6s  aim %-4s %s\n' "$1" "$2" "$took" "$4" "$5" "$6" "$verdict"
  [[ $verdict == ok ]] || failed=1
}

# scale_series NAME KIND GRADIENT AIM "LENGTHS" ARGUMENTS...: `melix ARGUMENTS PROGRAM` for each length; after a
# length that failed no longer one is tried
scale_series() {
  local name=$1 kind=$2 gradient=$3 aim=$4 lengths=$5 length before='' ratio program
  shift 5
  quiet_report
  for length in $lengths; do
    program=$(scale_generate "$kind" "$length" "$gradient")
    scale_measure "$melix" "$@" "$program"
    ratio=-
    if [[ $before =~ ^[0-9.]+$ && $took =~ ^[0-9.]+$ ]]; then
      ratio=$(awk -v a="$took" -v b="$before" 'BEGIN { printf "%.2f", a / (b > 0.02 ? b : 0.02) }')
    fi
    scale_line "$name" "$length" "$took" "$peak" "$ratio" "$aim"
    [[ $took =~ ^[0-9.]+$ ]] || break
    before=$took
  done
}

# about 4, 16 and 64 thousand ops of Core
bench_scale_ops() {
  scale_series "ops in functions, show --stage opt" ops 0 4.6 "66 264 1056" show --stage opt
  scale_series "ops in functions, show --stage grad" ops 1 4.6 "66 264 1056" show --stage grad
  scale_series "ops in one function, show --stage opt" blocks 0 4.6 "66 264 1056" show --stage opt
  scale_series "ops in one function, show --stage grad" blocks 1 4.6 "66 264 1056" show --stage grad
}

bench_scale_chain() {
  local kind gradient what
  for kind in scalars arrays; do
    for gradient in 0 1; do
      what="chain of $kind, $([[ $gradient == 0 ]] && echo value || echo gradient)"
      scale_series "$what, -O0" $kind $gradient 4.6 "200 800 3200" run -O0
      scale_series "$what" $kind $gradient 4.6 "200 800 3200" run
    done
  done
}

# 16,000 and 64,000 lines
bench_scale_lines() {
  scale_series "functions of 4 lines, check" lines 0 4.6 "4000 16000" check
  scale_series "functions of 4 lines, -O0" lines 0 4.6 "4000 16000" run -O0
  scale_series "functions of 4 lines" lines 0 4.6 "4000 16000" run
}

bench_scale_newton() {
  scale_series "derivatives of a while, show --stage opt" newton 0 4 "1 2 3 4 5 6" show --stage opt
}

bench_scale_straight() {
  local gradient what
  for gradient in 0 1; do
    what="statements, $([[ $gradient == 0 ]] && echo value || echo gradient)"
    scale_series "$what, -O0" straight $gradient 4.6 "250 1000 4000" run -O0
    scale_series "$what" straight $gradient 4.6 "250 1000 4000" run
  done
}

# scale_aim NAME KIND GRADIENT LENGTH SECONDS MB ARGUMENTS...: what somebody waits for, on all processors
scale_aim() {
  local name=$1 program seconds megabytes first=(env)
  program=$(scale_generate "$2" "$4" "$3")
  if chrt -f 1 true 2> /dev/null; then first=(chrt -f 1); fi
  "${first[@]}" /usr/bin/time -o "$work/times" -f '%e %M' "$melix" "${@:7}" "$program" > "$work/output" || failed=1
  read -r seconds megabytes < <(tail -n 1 "$work/times" | awk '{ printf "%.2f %d\n", $1, $2 / 1000 }')
  report "$name" "$seconds" "$5" s
  report "  its memory" "$megabytes" "$6" MB
}

bench_scale_aims() {
  scale_aim "64,000 ops in functions, show --stage opt" ops 0 1056 1.2 600 show --stage opt
  scale_aim "64,000 ops in one function, show --stage opt" blocks 0 1056 1.2 600 show --stage opt
  scale_aim "800 chained functions of scalars" scalars 0 800 1 300 run
  scale_aim "800 chained functions of scalars, -O0" scalars 0 800 1 300 run -O0
  scale_aim "800 chained functions of arrays" arrays 0 800 1 300 run
  scale_aim "800 chained functions of arrays, -O0" arrays 0 800 1 300 run -O0
  scale_aim "16,000 lines, -O0" lines 0 4000 6 600 run -O0
}

bench_scale() {
  local group
  for group in aims ops chain lines newton straight; do "bench_scale_$group"; done
}
