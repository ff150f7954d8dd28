// Panics: the message, where it arose, and the way to the landing.
#include "format.h"
#include "trace.h"

namespace melix::runtime {

namespace {

/// Keeps message, place and frames in the task, then leaves.
[[noreturn]] void raise(MelixTask* task, const void* const* frame) {
  task->panic.place.clear();
  task->panic.frames.clear();
  traceFrom(task, frame, task->panic.place, task->panic.frames);
  leaveToLanding(task, MELIX_PANIC);
}

[[noreturn]] void raiseMessage(MelixTask* task, const uint8_t* message, int64_t len,
                               const void* const* frame) {
  // The message may be a text that is freed at the landing; it may also be the task's own.
  if (message != task->panic.message.data) {
    task->panic.message.clear();
    task->panic.message.add(message, len);
  }
  raise(task, frame);
}

} // namespace

void panicText(MelixTask* task, const char* message) {
  raiseMessage(task, reinterpret_cast<const uint8_t*>(message), static_cast<int64_t>(strlen(message)),
               static_cast<const void* const*>(__builtin_frame_address(0)));
}

void stackOverflow(MelixTask* task, const void* const* frame) {
  task->overflowed = true;
  const char* message = "stack overflow: recursion without end?";
  raiseMessage(task, reinterpret_cast<const uint8_t*>(message), static_cast<int64_t>(strlen(message)), frame);
}

void raiseAgain(MelixTask* to, MelixTask* from) {
  auto* frame = static_cast<const void* const*>(__builtin_frame_address(0));
  if (from != to) {
    to->panic.clear();
    to->panic.message.add(from->panic.message.data, from->panic.message.len);
    to->panic.place.add(from->panic.place.data, from->panic.place.len);
    to->panic.frames.add(from->panic.frames.data, from->panic.frames.len);
  }
  traceFrom(to, frame, to->panic.place, to->panic.frames);
  leaveToLanding(to, MELIX_PANIC);
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_panic(MelixTask* task, const uint8_t* message, int64_t len) {
  raiseMessage(task, message, len, static_cast<const void* const*>(__builtin_frame_address(0)));
}

/// What the 64 bits of a number are in a message: `{0}` an i64, `{0u}` a u64, `{0s}` an f32, `{0d}` an f64.
static uint8_t kindOfMark(char mark) {
  switch (mark) {
  case '}': return MELIX_KIND_I64;
  case 'u': return MELIX_KIND_U64;
  case 's': return MELIX_KIND_F32;
  case 'd': return MELIX_KIND_F64;
  default: return MELIX_KIND_UNIT;
  }
}

void melix_panic_format(MelixTask* task, const char* format, int64_t count, const int64_t* values) {
  TextBuffer& message = task->panic.message;
  message.clear();
  for (const char* p = format; *p; p++) {
    bool number = p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[1] - '0' < count;
    uint8_t kind = kindOfMark(number ? p[2] : 0);
    const char* end = p + (kind == MELIX_KIND_I64 ? 2 : 3);
    if (kind == MELIX_KIND_UNIT || *end != '}') {
      message.addByte(*p);
      continue;
    }
    formatScalar(message, kind, &values[p[1] - '0'], FormatSpec(), false);
    p = end;
  }
  raise(task, static_cast<const void* const*>(__builtin_frame_address(0)));
}

void melix_panic_at(MelixTask* task, const char* place, const char* line, const uint8_t* message,
                    int64_t len) {
  task->panic.clear();
  task->panic.message.add(message, len);
  task->panic.place.add(place);
  if (line) {
    task->panic.place.addByte('\n');
    task->panic.place.add(line);
  }
  traceFrom(task, static_cast<const void* const*>(__builtin_frame_address(0)), task->panic.place,
            task->panic.frames);
  leaveToLanding(task, MELIX_PANIC);
}

/// The text with a zero behind it that does not count.
static const char* terminated(TextBuffer& text, int64_t* len) {
  *len = text.len;
  text.addByte(0);
  bool added = text.len > *len;
  text.len = *len;
  return added ? reinterpret_cast<const char*>(text.data) : "";
}

void melix_cancelled(MelixTask* task) { leaveToLanding(task, MELIX_CANCELLED); }

const char* melix_panic_text(MelixTask* task, int64_t* len) {
  TextBuffer& text = task->panic.text;
  text.clear();
  const TextBuffer& place = task->panic.place;
  auto* newline =
      place.len ? static_cast<uint8_t*>(memchr(place.data, '\n', static_cast<size_t>(place.len))) : nullptr;
  int64_t head = newline ? newline - place.data : place.len;
  text.add(place.data, head);
  text.add(head ? ": panic: " : "panic: ");
  text.add(task->panic.message.data, task->panic.message.len);
  text.addByte('\n');
  if (newline) {
    text.add(newline + 1, place.len - head - 1);
    text.addByte('\n');
  }
  text.add(task->panic.frames.data, task->panic.frames.len);
  return terminated(text, len);
}

const char* melix_panic_message(MelixTask* task, int64_t* len) {
  return terminated(task->panic.message, len);
}
