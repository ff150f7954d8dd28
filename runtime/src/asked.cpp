#include "asked.h"

namespace melix::runtime {

void giveAsked(MelixTask* task, uint64_t* results, const Asked& asked, void* data, const int64_t* dims) {
  results[0] = 1;
  if (asked.isArray()) {
    results[1] = reinterpret_cast<uint64_t>(data);
  } else {
    results[1] = 0;
    memcpy(&results[1], data, asked.type->size);
    melix_release(task, data);
  }
  for (int k = 0; k < asked.rank(); k++) results[2 + k] = static_cast<uint64_t>(dims[k]);
  setStr(results + 2 + asked.rank(), {nullptr, 0});
}

void giveError(MelixTask* task, uint64_t* results, const Asked& asked, TextBuffer& error) {
  for (int k = 0; k < 2 + asked.rank(); k++) results[k] = 0;
  setStr(results + 2 + asked.rank(), takeStr(task, error));
}

bool fitsShape(const Asked& asked, int rank, const int64_t* dims) {
  if (rank != asked.rank()) return false;
  for (int k = 0; k < rank; k++) {
    if (asked.dims[k] >= 0 && asked.dims[k] != dims[k]) return false;
  }
  return true;
}

bool countElements(int rank, const int64_t* dims, int64_t& count) {
  int64_t elements = 1; // as if no size were 0
  bool empty = false;
  for (int k = 0; k < rank; k++) {
    empty |= dims[k] == 0;
    if (dims[k] > 0 && __builtin_mul_overflow(elements, dims[k], &elements)) return false;
    if (elements > MELIX_MAX_EXTENT) return false;
  }
  count = empty ? 0 : elements;
  return true;
}

/// `f32[2, _]`; a negative size is `_`.
static void addType(TextBuffer& out, uint8_t kind, int rank, const int64_t* dims) {
  out.add(kindName(kind));
  if (rank == 0) return;
  for (int k = 0; k < rank; k++) {
    out.add(k == 0 ? "[" : ", ");
    if (dims[k] < 0)
      out.addByte('_');
    else
      out.addInt(dims[k]);
  }
  out.addByte(']');
}

void addAskedType(TextBuffer& out, const Asked& asked) {
  addType(out, asked.elem()->kind, asked.rank(), asked.dims);
}

void addMismatch(TextBuffer& out, const Asked& asked, uint8_t kind, int rank, const int64_t* dims) {
  out.add("it holds `");
  addType(out, kind, rank, dims);
  out.add("`, asked for is `");
  addAskedType(out, asked);
  out.addByte('`');
}

const char* kindName(uint8_t kind) {
  static const char* const names[] = {"()",  "bool",   "char",   "i8",  "i16",  "i32",  "int",
                                      "u8",  "u16",    "u32",    "u64", "f16",  "bf16", "f32",
                                      "f64", "f8e4m3", "f8e5m2", "c64", "c128", "str"};
  return kind < sizeof names / sizeof *names ? names[kind] : "array";
}

} // namespace melix::runtime
