# The table of subjects, and how their programs are built and run. Wants `melix` and `work`.

subject_folder=tests/bench/subjects

# table NAME: the lines of a table of this folder
table() { grep -v -e '^#' -e '^$' "tests/bench/$1.txt"; }

subject_lines() { table subjects; }

# read_subject: sets `subject` and what the table says of it, from the next line of standard input
read_subject() {
  IFS='|' read -r subject subject_sizes subject_smallest subject_tolerance subject_what || return
  subject=${subject// /}
  subject_tolerance=${subject_tolerance// /}
  subject_what=${subject_what# }
}

# find_subject NAME
find_subject() {
  read_subject < <(subject_lines | grep "^$1 *|")
}

# The processor that subjects and peers are built for.
bench_cpu=native

# build_subject: makes $work/SUBJECT
build_subject() { "$melix" build --cpu "$bench_cpu" "$subject_folder/$subject.mlx" -o "$work/$subject"; }

# build_with_sizes SIZE...: makes $work/SUBJECT.constant, whose `main` has the sizes written in it
build_with_sizes() {
  local names values=$*
  names=$(sed -n 's/^fn main(\(.*: int\)) {.*/\1/p' "$subject_folder/$subject.mlx")
  mkdir -p "$work/constant"
  cp "$subject_folder"/*.mlx "$work/constant"
  sed -i "s/^fn main(.*) {/fn main() {\n  let (${names//: int/}) = (${values// /, })\n/" "$work/constant/$subject.mlx"
  "$melix" build --cpu "$bench_cpu" "$work/constant/$subject.mlx" -o "$work/$subject.constant"
}

has_peer() { [[ -f $subject_folder/$subject.c ]]; }

# build_peer: makes $work/SUBJECT.peer
build_peer() {
  clang-22 -std=gnu17 -O3 -march="$bench_cpu" -Wall -Wextra "$subject_folder/$subject.c" -o "$work/$subject.peer" -lm
}

# small_run COMMAND...: one call of each case at the smallest sizes; lines of case and value
small_run() {
  # The sizes are words.
  # shellcheck disable=SC2086
  BENCH_CALLS=1 MELIX_THREADS=1 "$@" $subject_smallest | cut -d ' ' -f 1,2
}

# blocks CASE CALLS SIZES: how many blocks of memory a run of that many calls of the case asks for
blocks() {
  # shellcheck disable=SC2086
  BENCH_CASE=$1 BENCH_CALLS=$2 MELIX_THREADS=1 MELIX_STATS=1 "$work/$subject" $3 2>&1 > "$work/output" |
    sed -n 's/.*allocations \([0-9]*\).*/\1/p'
}

# allocations SIZES: for each case of $work/SUBJECT the blocks of memory a call asks for, from runs of 1 and of 11 calls
allocations() {
  local cases name
  # shellcheck disable=SC2086
  mapfile -t cases < <(BENCH_CALLS=1 MELIX_THREADS=1 "$work/$subject" $1 | cut -d ' ' -f 1)
  for name in "${cases[@]}"; do
    awk -v name="$name" -v one="$(blocks "$name" 1 "$1")" -v more="$(blocks "$name" 11 "$1")" \
      'BEGIN { print name, (more - one) / 10 }'
  done
}

# checks_left: how many checks stand in loops over points, in kernels and in chunks. Not those of a loop that is nothing but
# checks, which runs where a test in front of the points failed: the other arm of an `if` in text.
checks_left() {
  "$melix" show --stage loops "$subject_folder/$subject.mlx" | awk '
    /^(fn|kernel|chunk) / { kind = $1; split("", around) }
    { column = match($0, /[^ ]/) }
    /^ *check / {
      for (k = column - 1; k > 0; k--) {
        if (around[k] == "other arm" && around[k + 2] ~ /^ *for /) break
        if (around[k] ~ /for independent/) { left[kind]++; break }
      }
    }
    /\{( \(.*\))?$/ { around[column] = /^ *\}/ ? "other arm" : $0 }
    END { print "kernels", left["kernel"] + 0; print "chunks", left["chunk"] + 0 }'
}

# code_size: instructions of the machine code for x86-64-v3, whatever machine this is
code_size() {
  "$melix" show --stage asm --cpu x86-64-v3 "$subject_folder/$subject.mlx" | awk '/^\t[a-z]/ { n++ } END { print "instructions", n }'
}

# grown FACTOR OLD NEW: prints what is more than so many times what it was
grown() {
  awk -v factor="$1" '
    FNR == NR { first[$1] = $2; next }
    !($1 in first) { print $1 ": no value to compare with"; next }
    $2 > factor * first[$1] { print $1 ": " first[$1] " and now " $2 }' "$2" "$3"
}

# differ TOLERANCE FILE FILE: prints the cases whose values, second word of a line, are not near or not in both
differ() {
  awk -v tolerance="$1" '
    function abs(x) { return x < 0 ? -x : x }
    FNR == NR { first[$1] = $2; next }
    !($1 in first) { print $1 ": no value to compare with"; next }
    {
      most = abs($2) > abs(first[$1]) ? abs($2) : abs(first[$1])
      if (!(abs($2 - first[$1]) <= tolerance * most)) print $1 ": " first[$1] " and " $2
      delete first[$1]
    }
    END { for (name in first) print name ": not computed" }' "$2" "$3"
}
