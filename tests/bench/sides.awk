# Lines of a side (`one` or `other`), case, value, least and median seconds, in any order: a line a case with the median of
# the medians of each side (`by` median), or the least of the least (`by` least), and their ratio.
# `awk -v size=… -v one=… -v other=… -v by=… -v most=… -v tolerance=… -f time.awk -f sides.awk`; fails where the other side
# takes longer by more than `most` and 20 ns, or gives another value, more than `tolerance` apart.

# of the figures of a case, in `figures`
function figure(name, side, n, k, j, v, sorted) {
  n = counts[name, side]
  for (k = 1; k <= n; k++) {
    v = figures[name, side, k]
    for (j = k - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
    sorted[j + 1] = v
  }
  return sorted[by == "least" ? 1 : int((n + 1) / 2)]
}

function abs(x) { return x < 0 ? -x : x }

{
  if (!($2 in value)) { names[++cases] = $2; value[$2] = $3 }
  most_of = abs(value[$2]) > abs($3) ? abs(value[$2]) : abs($3)
  if (!(abs(value[$2] - $3) <= tolerance * most_of)) differs[$2] = 1
  figures[$2, $1, ++counts[$2, $1]] = (by == "least" ? $4 : $5) + 0
}
END {
  for (c = 1; c <= cases; c++) {
    first = figure(names[c], one); second = figure(names[c], other)
    missing = !counts[names[c], one] || !counts[names[c], other]
    verdict = missing ? "   NOT ON BOTH SIDES" : names[c] in differs ? "   VALUES DIFFER" : second > first * (1 + most) + 2e-8 ? "   SLOWER" : ""
    printf "%-38s %s %s   %s %s   ratio %5.2f%s\n", "  " names[c] " " size, one, time(first), other, time(second), (first > 0 ? second / first : 0), verdict
    if (verdict) failed = 1
  }
  exit failed || !cases
}
