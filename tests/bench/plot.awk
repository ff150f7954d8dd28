# Draws time against size: lines of case, size, seconds, seconds of C or `-` become an SVG, a panel a case, both axes logarithmic.
# `awk -v title=… -v axis=… -f time.awk -f plot.awk LINES`

function log10(x) { return log(x) / log(10) }
function floor(x, whole) { whole = int(x); return whole > x ? whole - 1 : whole }
function ceil(x) { return -floor(-x) }
function escaped(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
function trimmed(text) { gsub(/^ +| +$/, "", text); return text }

# Within the panel of a case.
function across(size) { return left + plotWidth * (log10(size) - firstDecade) / (lastDecade - firstDecade) }
function up(name, seconds) { return top + plotHeight * (highest[name] - log10(seconds)) / (highest[name] - lowest[name]) }

function widen(name, seconds, decade) {
  decade = log10(seconds)
  if (!(name in lowest) || floor(decade) < lowest[name]) lowest[name] = floor(decade)
  if (!(name in highest) || ceil(decade) > highest[name]) highest[name] = ceil(decade)
  if (highest[name] == lowest[name]) highest[name]++
}

function text(x, y, words, class) { printf "<text x='%.1f' y='%.1f' class='%s'>%s</text>\n", x, y, class, escaped(words) }
function line(x1, y1, x2, y2) { printf "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", x1, y1, x2, y2 }

function curve(name, values, class, k, points, size, dots) {
  for (k = 1; k <= sizes; k++) {
    size = sizeAt[k]
    if (!((name, size) in values)) continue
    points = points sprintf("%.1f,%.1f ", across(size), up(name, values[name, size]))
    dots = dots sprintf("<circle cx='%.1f' cy='%.1f' r='1.8' class='%s'><title>%s: %s</title></circle>\n", across(size),
                        up(name, values[name, size]), class, size, trimmed(time(values[name, size])))
  }
  if (points) printf "<polyline points='%s' class='%s'/>\n%s", points, class, dots
}

function panel(name, k, step) {
  print "<g class='grid'>"
  for (k = firstDecade; k <= lastDecade; k++) line(across(10 ^ k), top, across(10 ^ k), top + plotHeight)
  step = highest[name] - lowest[name] > 5 ? 2 : 1
  for (k = lowest[name]; k <= highest[name]; k += step) line(left, up(name, 10 ^ k), left + plotWidth, up(name, 10 ^ k))
  print "</g>"
  for (k = firstDecade; k <= lastDecade; k++) text(across(10 ^ k), top + plotHeight + 12, k < 4 ? 10 ^ k : "1e" k, "mid")
  for (k = lowest[name]; k <= highest[name]; k += step) text(left - 4, up(name, 10 ^ k) + 3, trimmed(time(10 ^ k)), "end")
  text(left, top - 6, name, "name")
  curve(name, peers, "c")
  curve(name, melix, "m")
}

BEGIN { panelWidth = 250; panelHeight = 180; plotWidth = 180; plotHeight = 125; head = 44 }
{
  if (!($1 in seen)) { seen[$1]; cases[++count] = $1 }
  if (!($2 in known)) { known[$2]; sizeAt[++sizes] = $2 }
  melix[$1, $2] = $3
  widen($1, $3)
  if ($4 != "-") { peers[$1, $2] = $4; widen($1, $4); hasPeer = 1 }
}
END {
  firstDecade = floor(log10(sizeAt[1])); lastDecade = ceil(log10(sizeAt[sizes]))
  if (lastDecade == firstDecade) lastDecade++
  columns = count < 4 ? count : 4
  printf "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='9'>\n",
         columns * panelWidth + 10, head + ceil(count / columns) * panelHeight
  print "<style>.grid line{stroke:#ddd} polyline{fill:none;stroke-width:1.6} polyline.m{stroke:#1463b8} polyline.c{stroke:#d9822b;" \
        "stroke-dasharray:5 3} circle.m{fill:#1463b8} circle.c{fill:#d9822b} text{fill:#333} .mid{text-anchor:middle}" \
        " .end{text-anchor:end} .name{font-weight:bold;font-size:11px} .title{font-size:13px}</style>"
  print "<rect width='100%' height='100%' fill='white'/>"
  text(10, 18, title, "title")
  text(10, 33, "time of a call against " axis (hasPeer ? "; solid: Melix, dashed: C" : ""), "")
  for (k = 1; k <= count; k++) {
    left = (k - 1) % columns * panelWidth + 52; top = head + int((k - 1) / columns) * panelHeight + 16
    panel(cases[k])
  }
  print "</svg>"
}
