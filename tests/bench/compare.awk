# Joins what a subject prints in Melix and in C, lines of case, value, least and median seconds, and prints a line a case.
# `awk -v subject=… -v size=… -v tolerance=… -v save=FILE -v against=FILE -f time.awk -f compare.awk MELIX PEER`; fails where values
# differ.

function abs(x) { return x < 0 ? -x : x }

function agree(a, b, most) {
  most = abs(a) > abs(b) ? abs(a) : abs(b)
  return abs(a - b) <= tolerance * most
}

function line(name, value, seconds, median, text, key, peer) {
  key = subject "/" name
  text = sprintf("%-38s %s ±%2.0f %%", "  " name " " size, time(seconds), 100 * (median - seconds) / seconds)
  if (name in peer_seconds) text = text sprintf("   C %s   ratio %7.2f", time(peer_seconds[name]), seconds / peer_seconds[name])
  if (subject == "spellings" && name != "compile") text = text spelling(name, value, seconds)
  if ((key, size) in old) text = text sprintf("   now / then %5.2f", seconds / old[key, size])
  if (name in peer_value && !agree(value, peer_value[name])) {
    text = text "   VALUES DIFFER: " value " and " peer_value[name]
    failed = 1
  }
  print text
  if (save) {
    peer = name in peer_seconds ? peer_seconds[name] : "-"
    printf "%s\t%s\t%s\t%s\t%s\t%s\n", key, size, value, seconds, median, peer >> save
  }
}

# Cases MEANING_SPELLING compute the same: how much longer this one takes than the fastest of its meaning.
function meaning(name) { sub(/_.*/, "", name); return name }
function spelling(name, value, seconds,   text) {
  text = sprintf("   / fastest %5.2f", seconds / fastest[meaning(name)])
  if (!agree(value, meant[meaning(name)])) {
    text = text "   VALUES DIFFER: " value " and " meant[meaning(name)]
    failed = 1
  }
  return text
}

BEGIN {
  if (against) while ((getline row < against) > 0) { split(row, field, "\t"); old[field[1], field[2]] = field[4] }
}
FILENAME == ARGV[2] { peer_value[$1] = $2; peer_seconds[$1] = $3 + 0; next }
{
  count++; names[count] = $1; values[count] = $2; least[count] = $3 + 0; medians[count] = $4 + 0
  if (!(meaning($1) in fastest)) { fastest[meaning($1)] = $3 + 0; meant[meaning($1)] = $2 }
  if ($3 + 0 < fastest[meaning($1)]) fastest[meaning($1)] = $3 + 0
}
END {
  for (k = 1; k <= count; k++) line(names[k], values[k], least[k], medians[k])
  if (!count) { print "  " subject " " size ": no such case"; failed = 1 }
  exit failed
}
