#pragma once
// A task for each test, and values in their stored form.

#include "melix/abi.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

/// Begins a test of more blocks than the system maps one by one, or of what becomes of them when they are
/// free.
#ifdef MELIX_GUARD_PAGES
#define MELIX_NOT_UNDER_GUARD_PAGES()                                                                        \
  GTEST_SKIP() << "with pages that trap each block is a mapping of its own"
#else
#define MELIX_NOT_UNDER_GUARD_PAGES() static_cast<void>(0)
#endif

namespace melix::test {

inline const MelixType* scalar(int kind) { return &melix_scalar_types[kind]; }

inline MelixStr str(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size())};
}
inline std::string text(MelixStr s) {
  return {reinterpret_cast<const char*>(s.data), static_cast<size_t>(s.len)};
}

inline MelixType arrayType(const MelixType* elem, int rank) {
  MelixType t{};
  t.kind = MELIX_KIND_ARRAY;
  t.rank = static_cast<uint8_t>(rank);
  t.flags = MELIX_HOLDS_REFS;
  t.align = 8;
  t.size = static_cast<uint32_t>(8 + 8 * rank);
  t.elem = elem;
  return t;
}
inline MelixType listType(const MelixType* elem) {
  MelixType t{};
  t.kind = MELIX_KIND_LIST;
  t.flags = MELIX_HOLDS_REFS;
  t.align = 8;
  t.size = 8;
  t.elem = elem;
  return t;
}

/// An array in its stored form over data of the test's own (never counted: do not drop).
struct StoredArray {
  const void* data;
  int64_t dims[4];
};

/// Slots of a builtin's arguments.
struct Slots {
  std::vector<uint64_t> words;
  Slots& add(std::string_view s) {
    words.push_back(reinterpret_cast<uint64_t>(s.data()));
    words.push_back(s.size());
    return *this;
  }
  Slots& add(const char* s) { return add(std::string_view(s)); }
  Slots& add(int64_t n) {
    words.push_back(static_cast<uint64_t>(n));
    return *this;
  }
  Slots& add(const void* p) {
    words.push_back(reinterpret_cast<uint64_t>(p));
    return *this;
  }
};

class RuntimeTest : public testing::Test {
protected:
  RuntimeTest() : task(melix_task_create()) {}
  ~RuntimeTest() override { melix_task_destroy(task); }

  /// Runs on the task's stack; the status, and the panic's whole text in `panic`.
  int32_t run(std::function<void()> body) {
    int32_t status =
        melix_catch(task, [](MelixTask*, void* f) { (*static_cast<std::function<void()>*>(f))(); }, &body);
    int64_t len;
    const char* p = melix_panic_text(task, &len);
    panic.assign(status == MELIX_PANIC ? p : "", status == MELIX_PANIC ? static_cast<size_t>(len) : 0);
    return status;
  }
  std::string message() {
    int64_t len;
    const char* p = melix_panic_message(task, &len);
    return {p, static_cast<size_t>(len)};
  }
  /// Results of a builtin; a panic fails the test.
  const uint64_t* call(MelixBuiltinFn fn, const Slots& args) {
    std::memset(results, 0xee, sizeof results);
    EXPECT_EQ(melix_call_builtin(task, fn, args.words.data(), results), MELIX_OK) << message();
    return results;
  }
  /// The str at a result slot, released.
  std::string takeText(int slot) {
    MelixStr s{reinterpret_cast<const uint8_t*>(results[slot]), static_cast<int64_t>(results[slot + 1])};
    std::string out = text(s);
    melix_release(task, const_cast<uint8_t*>(s.data));
    return out;
  }
  /// The list of str at a result slot, released.
  std::vector<std::string> takeList(int slot) {
    auto* list = reinterpret_cast<uint8_t*>(results[slot]);
    std::vector<std::string> out;
    auto* items = reinterpret_cast<const MelixStr*>(list + MELIX_LIST_ELEMENTS);
    for (int64_t k = 0; k < melix_list_length(list); k++) out.push_back(text(items[k]));
    melix_release(task, list);
    return out;
  }
  std::string format(const MelixType* type, const void* value, std::string_view spec = "",
                     bool quoted = false, std::array<int64_t, 2> numbers = {}) {
    MelixStr s{};
    int32_t status = run([&] {
      s = melix_format_value(task, type, value, reinterpret_cast<const uint8_t*>(spec.data()),
                             static_cast<int64_t>(spec.size()), quoted, numbers[0], numbers[1]);
    });
    if (status != MELIX_OK) return "panic: " + message();
    std::string out = text(s);
    melix_release(task, const_cast<uint8_t*>(s.data));
    return out;
  }
  template <class T>
  std::string show(int kind, T value, std::string_view spec = "") {
    return format(scalar(kind), &value, spec);
  }
  int64_t live() { return melix_stats(task).liveBlocks; }

  MelixTask* task;
  std::string panic;
  uint64_t results[16];
};

} // namespace melix::test

// The builtins, as generated code declares them.
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  extern "C" void Symbol(MelixTask*, const uint64_t*, uint64_t*);
#include "ops/builtins.def"
