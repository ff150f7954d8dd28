# Melix beside C, subject by subject: part of tests/bench/run, which has `work`, `melix` and `failed`.

compare_mode=times
compare_small=
compare_peer=1
compare_seconds=0.2
compare_save=
compare_against=
compare_plot_folder=

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
    -v against="$compare_against" -f tests/bench/time.awk -f tests/bench/compare.awk "$work/melix" "$work/peer" || failed=1
}

# compare_compile: builds the subject three times; the case `compile`
compare_compile() {
  local start times=()
  for _ in 1 2 3; do
    start=$(now)
    "${quiet[@]}" "$melix" build --cpu "$bench_cpu" "$subject_folder/$subject.mlx" -o "$work/$subject"
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

# sizes_between FIRST LAST STEP: 1, 2 and 5 times the powers of ten, or the multiple of the step that follows
sizes_between() {
  awk -v first="$1" -v last="$2" -v step="${3:-1}" 'BEGIN {
    for (power = 1; power <= last; power *= 10)
      for (k = 1; k <= 3; k++) {
        size = power * substr("125", k, 1)
        if (size >= first && size <= last) printf "%d\n", size + (step - size % step) % step
      }
  }'
}

# compare_plot: draws times of Melix and C against sizes
compare_plot() {
  local name arguments first last step size
  IFS='|' read -r name arguments first last step < <(table plots | grep "^$subject *|") || wrong "$subject is not in tests/bench/plots.txt"
  mkdir -p "$compare_plot_folder"
  quiet_report
  build_subject
  if [[ -n $compare_peer ]] && has_peer; then build_peer; fi
  : > "$work/plot"
  for size in $(sizes_between "$first" "$last" "$(xargs <<< "$step")"); do
    read -r -a sizes <<< "${arguments//N/$size}"
    BENCH_SECONDS=0.02 "${quiet[@]}" "$work/$subject" "${sizes[@]}" > "$work/melix"
    : > "$work/peer"
    if [[ -f $work/$subject.peer ]]; then BENCH_SECONDS=0.02 "${quiet[@]}" "$work/$subject.peer" "${sizes[@]}" > "$work/peer"; fi
    awk -v size="$size" 'FILENAME == ARGV[2] { print $1, size, $3, $1 in peer ? peer[$1] : "-"; next } { peer[$1] = $3 }' \
      "$work/peer" "$work/melix" >> "$work/plot"
  done
  awk -v title="$subject: $subject_what" -v axis="N, arguments $(xargs <<< "$arguments")" -f tests/bench/time.awk -f tests/bench/plot.awk \
    "$work/plot" > "$compare_plot_folder/$subject.svg"
  echo "$compare_plot_folder/$subject.svg"
}

# sides SIZES ONE OTHER BY MOST TOLERANCE: what $work/melix has of two sides at these sizes
sides() {
  awk -v size="$1" -v one="$2" -v other="$3" -v by="$4" -v most="$5" -v tolerance="$6" \
    -f tests/bench/time.awk -f tests/bench/sides.awk "$work/melix" || failed=1
}

# compare_threads: the subject with one thread and with all, in turn, the median of 21 runs of each
compare_threads() {
  local sizes runs run turn count first=(env) threads=(1 "$(nproc)")
  if nice -n -15 true 2> /dev/null; then first=(nice -n -15); fi
  build_subject
  printf '\n%s: %s\n' "$subject" "$subject_what"
  IFS=';' read -r -a runs <<< "$(sizes_wanted)"
  for run in "${runs[@]}"; do
    read -r -a sizes <<< "$run"
    for turn in {1..21}; do
      threads=("${threads[1]}" "${threads[0]}") # neither is always the first
      for count in "${threads[@]}"; do
        BENCH_SECONDS=0.006 MELIX_THREADS=$count "${first[@]}" "$work/$subject" "${sizes[@]}" | sed "s/^/$count /"
      done
    done > "$work/melix"
    sides "${sizes[*]}" 1 "$(nproc)" median 0.03 0
  done
}

# compare_constants: the subject with sizes that it reads when it runs, and with the same ones written into the program
compare_constants() {
  local sizes runs run turn
  quiet_report
  build_subject
  printf '\n%s: %s\n' "$subject" "$subject_what"
  IFS=';' read -r -a runs <<< "$(sizes_wanted)"
  for run in "${runs[@]}"; do
    read -r -a sizes <<< "$run"
    build_with_sizes "${sizes[@]}"
    for turn in {1..7}; do
      BENCH_SECONDS=0.02 "${quiet[@]}" "$work/$subject" "${sizes[@]}" | sed "s/^/read /"
      BENCH_SECONDS=0.02 "${quiet[@]}" "$work/$subject.constant" | sed "s/^/constant /"
    done > "$work/melix"
    sides "${sizes[*]}" read constant least 0.15 "$subject_tolerance"
  done
}

# compare_allocations: blocks of memory a call
compare_allocations() {
  local runs run name blocks
  build_subject
  printf '\n%s: %s\n' "$subject" "$subject_what"
  IFS=';' read -r -a runs <<< "$(sizes_wanted)"
  for run in "${runs[@]}"; do
    while read -r name blocks; do
      printf '%-38s %9.1f allocations\n' "  $name ${run## }" "$blocks"
    done < <(allocations "$run")
  done
}

# write_lines FILE: the subject's lines of the file are those of standard input now
write_lines() {
  sed "s|^|$subject/|" > "$work/lines"
  { sed "\|^$subject/|d" "$1"; cat "$work/lines"; } | LC_ALL=C sort > "$work/all_lines"
  cp "$work/all_lines" "$1"
}

# compare_values: the subject's lines of tests/bench/values.txt, allocations.txt, checks.txt and code.txt
compare_values() {
  local program=$work/$subject
  build_subject
  allocations "$subject_smallest" | write_lines tests/bench/allocations.txt
  checks_left | write_lines tests/bench/checks.txt
  code_size | write_lines tests/bench/code.txt
  if has_peer; then build_peer && program+=.peer; fi
  small_run "$program" | write_lines tests/bench/values.txt
}
