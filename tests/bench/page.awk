# A page of what `tests/bench/run` prints: `tests/bench/run | awk -f tests/bench/page.awk > docs/benchmarks.md`.
# A table for each subject, with a picture of time against size where docs/plots has one.
function picture(name,   file, line) {
  file = "docs/plots/" name ".svg"
  if ((getline line < file) > 0) printf "\n![%s: time against size](plots/%s.svg)\n", name, name
  close(file)
}
function finish() {
  if (subject != "") picture(subject)
  subject = ""
}
BEGIN {
  print "# Benchmarks"
  print ""
  print "Every subject of [`tests/bench`](../tests/bench/README.md), with one thread on one core, the least time of a call; C is"
  print "`clang -O3 -march=native` without fast math. [performance.md](performance.md) explains the cases that are slower. Made by"
  print ""
  print "```sh"
  print "tests/bench/run | awk -f tests/bench/page.awk > docs/benchmarks.md   # the tables"
  print "tests/bench/run --plot docs/plots NAME                               # its picture: solid Melix, dashed C"
  print "```"
}
/^[a-z_0-9]+: / && !/:  / && !/limit/ {
  finish()
  subject = substr($1, 1, length($1) - 1)
  sub(/^[a-z_0-9]+: /, "")
  printf "\n## %s\n\n%s.\n", subject, toupper(substr($0, 1, 1)) substr($0, 2)
  header = 0
  next
}
subject == "" || NF == 0 { next }
$1 == "compile" { printf "Compiled in %s %s.\n\n", $2, $3; next }
{
  if (!header++) print "| | arguments | Melix | C | ratio |\n|---|---|---|---|---|"
  arguments = ""
  for (k = 2; $(k + 1) !~ /^(ns|µs|ms|s)$/; k++) arguments = arguments (k > 2 ? " " : "") $k
  time = $k " " $(k + 1)
  peer = ratio = ""
  for (; k <= NF; k++) {
    if ($k == "C") peer = $(k + 1) " " $(k + 2)
    if ($k == "ratio") ratio = $(k + 1)
  }
  printf "| %s | %s | %s | %s | %s |\n", $1, arguments, time, peer, ratio
}
END { finish() }
