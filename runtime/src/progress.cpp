// What a long loop tells on standard error: on a terminal a bar, drawn again and again; elsewhere a line now
// and then.
#include "builtins.h"
#include "format.h"
#include "system.h"

namespace melix::runtime {

namespace {

/// A loop as its iterator tells it.
struct Loop {
  MelixStr label;
  int64_t total; ///< steps; negative: unknown
  int64_t done;
  double seconds; ///< since it began
  bool ended;

  bool knowsTotal() const { return total >= done; }
};

double lastShown; ///< when; in seconds of the clock
TextBuffer note;  ///< of the loop that runs
MelixProgressFn hostReceiver;
void* hostContext;
constexpr double frame = 0.05; ///< seconds between two pictures of a loop

/// Columns of a char; what may be wide is taken to be.
int columnsOf(uint32_t c) { return c < 0x1100 ? 1 : 2; }

/// Calls `each` with every char of a text: where it begins, its bytes, its code point.
template <class F>
void eachChar(const uint8_t* data, int64_t len, F each) {
  for (int64_t at = 0; at < len;) {
    uint32_t c = ' ';
    int bytes = decodeChar(data + at, len - at, c);
    if (bytes == 0) bytes = 1;
    each(at, bytes, c);
    at += bytes;
  }
}

int columnsOf(const TextBuffer& text) {
  int columns = 0;
  eachChar(text.data, text.len, [&](int64_t, int, uint32_t c) { columns += columnsOf(c); });
  return columns;
}

void cutToColumns(TextBuffer& text, int columns) {
  int64_t fits = text.len;
  int used = 0;
  eachChar(text.data, text.len, [&](int64_t at, int, uint32_t c) {
    used += columnsOf(c);
    if (used > columns && fits == text.len) fits = at;
  });
  text.len = fits;
}

/// A text with blanks for what is not seen: it would move the cursor, or what is seen.
void addVisible(TextBuffer& out, const uint8_t* data, int64_t len) {
  eachChar(data, len, [&](int64_t at, int bytes, uint32_t c) {
    if (isSeen(c))
      out.add(data + at, bytes);
    else
      out.addByte(' ');
  });
}

void addNumber(TextBuffer& out, double value, int digits) {
  FormatSpec spec;
  spec.digits = digits;
  formatScalar(out, MELIX_KIND_F64, &value, spec, false);
}

/// About three digits.
void addShort(TextBuffer& out, double value) {
  addNumber(out, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

void addTwoDigits(TextBuffer& out, int64_t value) {
  if (value < 10) out.addByte('0');
  out.addInt(value);
}

/// `7.2 s`, `42 s`, `3:07`, `1:02:33`
void addDuration(TextBuffer& out, double seconds) {
  constexpr double longest = 1e9; // beyond, nobody waits
  if (seconds < 59.5) {
    addNumber(out, seconds, seconds < 9.95 ? 1 : 0);
    out.add(" s");
    return;
  }
  auto whole = static_cast<int64_t>((seconds < longest ? seconds : longest) + 0.5);
  int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) {
    out.addInt(hours);
    out.addByte(':');
    addTwoDigits(out, minutes);
  } else {
    out.addInt(minutes);
  }
  out.addByte(':');
  addTwoDigits(out, whole % 60);
}

/// `45.2/s`; of steps that take longer than a second each, `2.31 s each`.
void addRate(TextBuffer& out, const Loop& loop) {
  double rate = static_cast<double>(loop.done) / loop.seconds;
  addShort(out, rate >= 1 ? rate : 1 / rate);
  out.add(rate >= 1 ? "/s" : " s each");
}

void addGap(TextBuffer& out) {
  if (out.len > 0) out.add("  ");
}

/// `epoch 1   42 %`
void addHead(TextBuffer& out, const Loop& loop) {
  addVisible(out, loop.label.data, loop.label.len);
  if (!loop.knowsTotal()) return;
  addGap(out);
  double share = loop.total > 0 ? static_cast<double>(loop.done) / static_cast<double>(loop.total) : 1;
  auto percent = static_cast<int64_t>(share * 100);
  out.add(percent < 10 ? "  " : percent < 100 ? " " : "");
  out.addInt(percent);
  out.add(" %");
}

/// `394/938  45.2/s  12 s left  loss 0.25`
void addTail(TextBuffer& out, const Loop& loop) {
  out.addInt(loop.done);
  if (loop.knowsTotal()) {
    out.addByte('/');
    out.addInt(loop.total);
  }
  if (loop.done > 0 && loop.seconds > 0) {
    addGap(out);
    addRate(out, loop);
    addGap(out);
    bool left = loop.knowsTotal() && !loop.ended;
    double each = loop.seconds / static_cast<double>(loop.done);
    addDuration(out, left ? each * static_cast<double>(loop.total - loop.done) : loop.seconds);
    if (left) out.add(" left");
  }
  if (note.len > 0) {
    addGap(out);
    addVisible(out, note.data, note.len);
  }
}

/// `[=====>    ]` of at most this many columns, if the total is known and there is room for it.
void addBar(TextBuffer& out, const Loop& loop, int columns) {
  constexpr int most = 32, least = 10;
  if (columns > most) columns = most;
  if (columns < least || !loop.knowsTotal()) return;
  int cells = columns - 2;
  int full = loop.total > 0
                 ? static_cast<int>(static_cast<double>(loop.done) / static_cast<double>(loop.total) * cells)
                 : cells;
  addGap(out);
  out.addByte('[');
  for (int k = 0; k < cells; k++) out.addByte(k < full ? '=' : k == full ? '>' : ' ');
  out.addByte(']');
}

void addLine(TextBuffer& out, const Loop& loop, int columns) {
  constexpr int gaps = 4;
  ScopedBuffer tail;
  addTail(tail, loop);
  addHead(out, loop);
  if (columns > 0) addBar(out, loop, columns - 1 - columnsOf(out) - columnsOf(tail) - gaps);
  addGap(out);
  out.add(tail.data, tail.len);
  if (columns > 0) cutToColumns(out, columns - 1);
}

/// Whether it is time for a line where there is no terminal: after 1, 2, 4 … seconds, then once a minute.
bool isLineDue(double started, double now) {
  double last = lastShown > started ? lastShown : started;
  double wait = last - started;
  return now - last >= (wait < 1 ? 1 : wait > 60 ? 60 : wait);
}

/// Gives a step to the host.
void give(const Loop& loop, double now) {
  if (!loop.ended && now - lastShown < frame) return;
  lastShown = now;
  const MelixProgress progress = {loop.label, {note.data, note.len}, loop.knowsTotal() ? loop.total : -1,
                                  loop.done,  loop.seconds,          loop.ended ? 1 : 0};
  hostReceiver(hostContext, &progress);
}

void show(const Loop& loop, double started, double now) {
  if (hostReceiver) return give(loop, now);
  static const bool onTerminal = statusColumns() > 0;
  if (!loop.ended && !(onTerminal ? now - lastShown >= frame : isLineDue(started, now))) return;
  lastShown = now;
  ScopedBuffer line;
  addLine(line, loop, statusColumns());
  if (onTerminal) {
    showStatus(line, loop.ended);
    return;
  }
  line.addByte('\n');
  writeText(2, line.data, line.len);
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_set_progress(MelixProgressFn receiver, void* context) {
  hostReceiver = receiver;
  hostContext = context;
}

void melix_progress_step(MelixTask* task, const uint64_t* args, uint64_t*) {
  checkStack(task);
  uint64_t clock;
  melix_clock(task, nullptr, &clock);
  double started, now;
  memcpy(&started, &args[4], sizeof started);
  memcpy(&now, &clock, sizeof now);
  Loop loop{strArg(args), static_cast<int64_t>(args[2]), static_cast<int64_t>(args[3]), now - started,
            args[5] != 0};
  if (loop.done == 0) note.clear();
  show(loop, started, now);
  if (loop.ended) note.clear();
}

void melix_progress_note(MelixTask* task, const uint64_t* args, uint64_t*) {
  checkStack(task);
  note.clear();
  note.add(strArg(args));
}
