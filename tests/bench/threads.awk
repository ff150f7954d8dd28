# Lines of a number of threads (1 or more), case, value, least and median seconds, in any order: a line a case with the
# median of the medians for one thread and for more, and their ratio. `awk -v size=… -v threads=… -v most=… -f time.awk -f threads.awk`; fails where
# more threads take longer than one by more than `most` and 20 ns, or give another value.

# of the figures of a case, in `figures`
function median(name, side, n, k, j, v, sorted) {
  n = counts[name, side]
  for (k = 1; k <= n; k++) {
    v = figures[name, side, k]
    for (j = k - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
    sorted[j + 1] = v
  }
  return sorted[int((n + 1) / 2)]
}

{
  side = $1 == 1 ? 1 : 2
  if (!($2 in value)) { names[++cases] = $2; value[$2] = $3 }
  if (value[$2] != $3) differs[$2] = 1
  figures[$2, side, ++counts[$2, side]] = $5 + 0
}
END {
  for (c = 1; c <= cases; c++) {
    one = median(names[c], 1); more = median(names[c], 2)
    verdict = names[c] in differs ? "   VALUES DIFFER" : more > one * (1 + most) + 2e-8 ? "   SLOWER" : ""
    printf "%-38s 1 %s   %d %s   ratio %5.2f%s\n", "  " names[c] " " size, time(one), threads, time(more), more / one, verdict
    if (verdict) failed = 1
  }
  exit failed
}
