# Quiet conditions: `quiet` is what stands in front of a command that is timed. It runs on one core (BENCH_CORE, the
# last one) and before all other processes, where the system lets us; `quiet_report` says once which of both it is.

quiet=()
quiet_missing=()
quiet_reported=

quiet_find() {
  local core=${BENCH_CORE:-$(($(nproc) - 1))}
  if chrt -f 1 true 2> /dev/null; then quiet+=(chrt -f 1); else quiet_missing+=("a real-time class (chrt -f 1)"); fi
  if taskset -c "$core" true 2> /dev/null; then
    quiet+=(taskset -c "$core")
  else
    quiet_missing+=("a core of its own (taskset -c $core)")
  fi
  [[ ${#quiet[@]} -gt 0 ]] || quiet=(env)
}

quiet_report() {
  local missing
  [[ -z $quiet_reported ]] || return 0
  quiet_reported=1
  echo "each run under: ${quiet[*]}"
  for missing in "${quiet_missing[@]}"; do echo "not allowed here: $missing; figures vary more"; done
}

quiet_find
