# Seconds as people read them.

function time(seconds, scale, unit) {
  if (seconds < 1e-6) { scale = 1e9; unit = "ns" }
  else if (seconds < 1e-3) { scale = 1e6; unit = "µs" }
  else if (seconds < 1) { scale = 1e3; unit = "ms" }
  else { scale = 1; unit = "s" }
  return sprintf("%9.4g %-2s", seconds * scale, unit)
}
