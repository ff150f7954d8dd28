#include "trace.h"

namespace melix::runtime {

namespace {

MelixLineTable* tables;
uint32_t tablesLock;

constexpr int64_t shownAtEachEnd = 20;
/// Frames below the program's own: its entry and what the runtime calls that with.
constexpr int64_t mostOutside = 8;

struct Found {
  const MelixLineTable* table = nullptr;
  const MelixFrame* first = nullptr;
  const MelixFrame* end = nullptr;
};

/// The table of the code that a call stands in. It returns behind itself: never to the first byte of its
/// code, but, where the call is the last of it, to the byte behind, with which other code may begin.
const MelixLineTable* tableOf(const uint8_t* returnAddress) {
  for (const MelixLineTable* t = __atomic_load_n(&tables, __ATOMIC_ACQUIRE); t; t = t->next) {
    if (returnAddress > t->base && returnAddress <= t->base + t->size) return t;
  }
  return nullptr;
}

Found lookUp(const void* returnAddress) {
  auto* address = static_cast<const uint8_t*>(returnAddress);
  const MelixLineTable* table = tableOf(address);
  if (!table) return {};
  auto offset = static_cast<uint64_t>(address - table->base);
  uint64_t low = 0, high = table->count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (table->entries[middle].address < offset)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == table->count || table->entries[low].address != offset) return {};
  return {table, table->frames + table->entries[low].first, table->frames + table->entries[low + 1].first};
}

/// Frame pointers from the innermost outwards, as long as they stay on the stack of the task, below the
/// landing.
class FrameWalk {
public:
  FrameWalk(const MelixTask* task, const void* const* frame) : frame_(frame) {
    auto* landing = task->landing ? static_cast<const uint8_t*>(task->landing->sp) : nullptr;
    auto* here = reinterpret_cast<const uint8_t*>(frame);
    const Stack& stack = task->stack;
    bool landingOnStack = !stack.contains(here) || stack.contains(landing);
    limit_ = landingOnStack ? landing : stack.high;
    // Without a landing the stack is not known: trust frame pointers for a megabyte.
    if (!task->landing) limit_ = stack.contains(here) ? stack.high : here + (1 << 20);
    if (!valid(frame)) frame_ = nullptr;
  }
  const void* returnAddress() const { return frame_[1]; }
  explicit operator bool() const { return frame_ != nullptr; }
  void next() {
    auto* outer = static_cast<const void* const*>(frame_[0]);
    frame_ = outer > frame_ && valid(outer) ? outer : nullptr;
  }

private:
  bool valid(const void* const* frame) const {
    auto* at = reinterpret_cast<const uint8_t*>(frame);
    return at && at + 16 <= limit_ && reinterpret_cast<uintptr_t>(at) % 8 == 0;
  }
  const void* const* frame_;
  const uint8_t* limit_;
};

const char* stringOf(const Found& found, uint32_t offset) { return found.table->strings + offset; }

bool isInLibrary(const void* place, size_t len) {
  constexpr size_t folder = sizeof MELIX_LIBRARY_FOLDER - 1;
  return len >= folder && memcmp(place, MELIX_LIBRARY_FOLDER, folder) == 0;
}

/// Whether a panic is told of `file` rather than of `place`, which lies further in.
bool isBetterPlace(const char* file, const TextBuffer& place) {
  if (place.len == 0) return true;
  return isInLibrary(place.data, static_cast<size_t>(place.len)) && !isInLibrary(file, strlen(file));
}

void setPlace(const Found& found, const MelixFrame& f, TextBuffer& place) {
  place.clear();
  place.add(stringOf(found, f.file));
  place.addByte(':');
  place.addUnsigned(f.line);
  place.addByte(':');
  place.addUnsigned(f.column);
  const char* text = stringOf(found, f.text);
  if (*text) {
    place.addByte('\n');
    place.add(text);
  }
}

void addFrames(const void* returnAddress, TextBuffer& place, TextBuffer& out) {
  Found found = lookUp(returnAddress);
  if (!found.table || found.first == found.end) return;
  for (const MelixFrame* f = found.first; f != found.end; f++) {
    if (isBetterPlace(stringOf(found, f->file), place)) setPlace(found, *f, place);
    out.add("  at ");
    out.add(stringOf(found, f->function));
    out.add(" (");
    out.add(stringOf(found, f->file));
    out.addByte(':');
    out.addUnsigned(f->line);
    out.add(")\n");
  }
}

} // namespace

void traceFrom(MelixTask* task, const void* const* frame, TextBuffer& place, TextBuffer& out) {
  constexpr int64_t kept = shownAtEachEnd + mostOutside;
  const void* last[kept];
  int64_t count = 0;
  for (FrameWalk walk(task, frame); walk; walk.next(), count++) {
    if (count < shownAtEachEnd)
      addFrames(walk.returnAddress(), place, out);
    else
      last[count % kept] = walk.returnAddress();
  }
  for (int64_t k = 0; k < mostOutside && count > shownAtEachEnd; k++, count--) {
    Found outermost = lookUp(last[(count - 1) % kept]);
    if (outermost.table && outermost.first != outermost.end) break;
  }
  if (count <= shownAtEachEnd) return;
  int64_t from = count - shownAtEachEnd;
  if (from <= shownAtEachEnd) {
    from = shownAtEachEnd;
  } else {
    out.add("  … ");
    out.addInt(from - shownAtEachEnd);
    out.add(" more frames\n");
  }
  for (int64_t k = from; k < count; k++) addFrames(last[k % kept], place, out);
}

const void* const* findFrame(const MelixTask* task, const uint8_t* fp, const uint8_t* sp) {
  const Stack& stack = task->stack;
  auto plausible = [&](const uint8_t* at) {
    if (at < sp || at + 16 > stack.high || reinterpret_cast<uintptr_t>(at) % 8 != 0) return false;
    auto* words = reinterpret_cast<const void* const*>(at);
    return lookUp(words[1]).table != nullptr;
  };
  if (plausible(fp)) return reinterpret_cast<const void* const*>(fp);
  constexpr ptrdiff_t searched = 1 << 20;
  const uint8_t* end = stack.high - sp < searched ? stack.high : sp + searched;
  for (const uint8_t* at = sp; at + 16 <= end; at += 8) {
    auto* saved = *reinterpret_cast<const uint8_t* const*>(at);
    if (saved > at && saved < stack.high && plausible(at)) return reinterpret_cast<const void* const*>(at);
  }
  return nullptr;
}

bool isCode(const void* at) {
  for (const MelixLineTable* t = __atomic_load_n(&tables, __ATOMIC_ACQUIRE); t; t = t->next)
    if (reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(t->base) < t->size) return true;
  return false;
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_register_lines(MelixLineTable* table) {
  SpinLock guard(&tablesLock);
  table->next = tables;
  __atomic_store_n(&tables, table, __ATOMIC_RELEASE);
}

void melix_unregister_lines(MelixLineTable* table) {
  SpinLock guard(&tablesLock);
  for (MelixLineTable** at = &tables; *at; at = &(*at)->next) {
    if (*at == table) {
      *at = table->next;
      return;
    }
  }
}
