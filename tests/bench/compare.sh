# Melix beside C, subject by subject: part of tests/bench/run, which has `work`, `melix` and `failed`.

compare_mode=times
compare_small=
compare_peer=1
compare_seconds=0.2
compare_save=
compare_against=

compare_begin() {
  [[ -z $compare_save ]] || printf 'case\tsize\tvalue\tseconds\tmedian\tpeer\n' > "$compare_save"
}

# compare CASE: measures that case of the subject, or all
compare() {
  local -x BENCH_SECONDS=$compare_seconds MELIX_THREADS=1
  [[ -z $1 ]] || local -x BENCH_CASE=$1
  "compare_$compare_mode"
}

# compare_lines SIZE: prints what $work/melix and $work/peer say
compare_lines() {
  awk -v subject="$subject" -v size="$1" -v tolerance="$subject_tolerance" -v save="$compare_save" \
    -v against="$compare_against" -f tests/bench/compare.awk "$work/melix" "$work/peer" || failed=1
}

# compare_compile: builds the subject three times; the case `compile`
compare_compile() {
  local start times=()
  for _ in 1 2 3; do
    start=$(now)
    "${quiet[@]}" "$melix" build --cpu native "$subject_folder/$subject.mlx" -o "$work/$subject"
    times+=($(($(now) - start)))
  done
  mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
  echo "compile 0 ${times[0]}e-6 ${times[1]}e-6" > "$work/melix"
  : > "$work/peer"
  compare_lines ""
}

sizes_wanted() {
  if [[ -n $compare_small ]]; then echo "$subject_smallest"; else echo "$subject_sizes"; fi
}

# compare_times: the subject at each of its sizes
compare_times() {
  local sizes run runs
  quiet_report
  printf '\n%s: %s\n' "$subject" "$subject_what"
  compare_compile
  if [[ -n $compare_peer ]] && has_peer; then build_peer; fi
  IFS=';' read -r -a runs <<< "$(sizes_wanted)"
  for run in "${runs[@]}"; do
    read -r -a sizes <<< "$run"
    "${quiet[@]}" "$work/$subject" "${sizes[@]}" > "$work/melix"
    if [[ -f $work/$subject.peer ]]; then "${quiet[@]}" "$work/$subject.peer" "${sizes[@]}" > "$work/peer"; fi
    compare_lines "${sizes[*]}"
  done
}

# blocks CASE CALLS: how many blocks of memory a run of that many calls of the case asks for
blocks() {
  # The sizes are words.
  # shellcheck disable=SC2086
  BENCH_CASE=$1 BENCH_CALLS=$2 MELIX_STATS=1 "$work/$subject" $run 2>&1 > "$work/output" |
    sed -n 's/.*allocations \([0-9]*\).*/\1/p'
}

# compare_allocations: blocks of memory a call, from runs of 1 and of 11 calls
compare_allocations() {
  local runs run cases name
  build_subject
  printf '\n%s: %s\n' "$subject" "$subject_what"
  IFS=';' read -r -a runs <<< "$(sizes_wanted)"
  for run in "${runs[@]}"; do
    # shellcheck disable=SC2086
    mapfile -t cases < <(BENCH_CALLS=1 "$work/$subject" $run | cut -d ' ' -f 1)
    for name in "${cases[@]}"; do
      printf '%-38s %9.1f allocations\n' "  $name ${run## }" "$(($(blocks "$name" 11) - $(blocks "$name" 1)))e-1"
    done
  done
}

# compare_values: the case's lines of tests/bench/values.txt
compare_values() {
  local program=$work/$subject
  if has_peer; then build_peer && program+=.peer; else build_subject; fi
  small_run "$program" | sed "s|^|$subject/|" > "$work/values"
  { sed "\|^$subject/|d" tests/bench/values.txt; cat "$work/values"; } | LC_ALL=C sort > "$work/all_values"
  cp "$work/all_values" tests/bench/values.txt
}
