// Counts, copies, dropping of deep structures, lists; nothing is left at the end.
#include "runtime_fixture.h"

#include <algorithm>
#include <cstdlib>

namespace melix::test {
namespace {

class Memory : public RuntimeTest {};

MelixBlock* header(const void* data) {
  return reinterpret_cast<MelixBlock*>(const_cast<uint8_t*>(static_cast<const uint8_t*>(data)) - 64);
}

TEST_F(Memory, blocks_are_aligned_and_counted) {
  for (int64_t bytes : {0, 1, 63, 64, 65, 1024, 1025, 100'000, 10'000'000}) {
    void* data = melix_alloc(task, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    EXPECT_EQ(header(data)->refs, 1);
    EXPECT_EQ(header(data)->bytes, static_cast<uint64_t>(bytes));
    std::memset(data, 0xff, static_cast<size_t>(bytes));
    melix_release(task, data);
  }
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(melix_stats(task).allocations, 9);
  EXPECT_EQ(melix_stats(task).peakBytes, 10'000'000);
  auto* zeroed = static_cast<uint8_t*>(melix_alloc_zeroed(task, 500));
  for (int k = 0; k < 500; k++) EXPECT_EQ(zeroed[k], 0);
  melix_release(task, zeroed);
}

TEST_F(Memory, constants_are_never_counted) {
  alignas(64) static MelixBlock constant[2] = {{}, {}};
  constant[0].refs = MELIX_IMMORTAL;
  constant[0].valid = MELIX_VALID_HOST;
  constant[0].bytes = 64;
  void* data = &constant[1];
  melix_retain(task, data);
  melix_release(task, data);
  melix_release(task, data);
  EXPECT_EQ(constant[0].refs, MELIX_IMMORTAL);
  void* copy = melix_ensure_unique(task, data);
  EXPECT_NE(copy, data);
  melix_release(task, copy);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, what_is_filled_anyway_is_not_copied) {
  auto* data = static_cast<int64_t*>(melix_alloc(task, 80));
  for (int64_t k = 0; k < 10; ++k) data[k] = k;
  EXPECT_EQ(melix_unique_beside(task, data, 16, 72), data);
  melix_retain(task, data);
  auto* copy = static_cast<int64_t*>(melix_unique_beside(task, data, 16, 72));
  ASSERT_NE(copy, data);
  for (int64_t k : {0, 1, 9}) EXPECT_EQ(copy[k], k);
  const std::pair<int64_t, int64_t> nowhere[] = {{72, 16}, {-8, 40}, {40, 88}};
  for (auto [first, last] : nowhere) {
    melix_retain(task, data);
    auto* whole = static_cast<int64_t*>(melix_unique_beside(task, data, first, last));
    for (int64_t k = 0; k < 10; ++k) EXPECT_EQ(whole[k], k);
    melix_release(task, whole);
  }
  for (int64_t* block : {data, copy}) melix_release(task, block);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, a_shared_block_is_copied_for_writing) {
  auto* data = static_cast<int64_t*>(melix_alloc(task, 80));
  data[3] = 7;
  EXPECT_EQ(melix_ensure_unique(task, data), data);
  melix_retain(task, data);
  auto* copy = static_cast<int64_t*>(melix_ensure_unique(task, data));
  ASSERT_NE(copy, data);
  EXPECT_EQ(copy[3], 7);
  EXPECT_EQ(header(data)->refs, 1);
  melix_release(task, data);
  melix_release(task, copy);
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(melix_ensure_unique(task, nullptr), nullptr);
}

/// enum Chain { End, Node(i64, str, Chain) }
struct ChainType {
  MelixField fields[3];
  MelixCase cases[2];
  MelixType type{};
  ChainType() {
    fields[0] = {nullptr, scalar(MELIX_KIND_I64), 8};
    fields[1] = {nullptr, scalar(MELIX_KIND_STR), 16};
    fields[2] = {nullptr, &type, 32};
    cases[0] = {"End", nullptr, 0, 4};
    cases[1] = {"Node", fields, 3, 40};
    type.kind = MELIX_KIND_ENUM;
    type.flags = MELIX_HOLDS_REFS;
    type.align = 8;
    type.size = 8;
    type.cases = cases;
    type.caseCount = 2;
    type.name = "Chain";
  }
  void* node(MelixTask* task, int64_t number, MelixStr text, void* next) {
    auto* data = static_cast<uint8_t*>(melix_alloc_typed(task, 40, &type, MELIX_LAYOUT_NODE));
    int32_t tag = 1;
    std::memcpy(data, &tag, 4);
    std::memcpy(data + 8, &number, 8);
    std::memcpy(data + 16, &text, 16);
    std::memcpy(data + 32, &next, 8);
    return data;
  }
};
void* const chainEnd = reinterpret_cast<void*>(uintptr_t(0 << 1 | 1));

TEST_F(Memory, a_chain_of_a_million_nodes_is_dropped_without_recursion) {
  MELIX_NOT_UNDER_GUARD_PAGES();
  ChainType chain;
  void* first = chainEnd;
  for (int64_t k = 0; k < 1'000'000; k++) first = chain.node(task, k, {nullptr, 0}, first);
  EXPECT_EQ(live(), 1'000'000);
  melix_release_word(task, first);
  EXPECT_EQ(live(), 0);
  melix_release_word(task, chainEnd);
}

TEST_F(Memory, shared_parts_outlive_one_owner) {
  ChainType chain;
  auto* bytes = static_cast<uint8_t*>(melix_alloc(task, 2));
  std::memcpy(bytes, "hi", 2);
  void* tail = chain.node(task, 1, {bytes, 2}, chainEnd);
  melix_retain(task, tail);
  void* a = chain.node(task, 2, {nullptr, 0}, tail);
  void* b = chain.node(task, 3, {nullptr, 0}, tail);
  EXPECT_EQ(format(&chain.type, &a), "Node(2, \"\", Node(1, \"hi\", End))");
  melix_release(task, a);
  EXPECT_EQ(live(), 3);
  // A copy of a node owns its fields too.
  melix_retain(task, b);
  void* copy = melix_ensure_unique(task, b);
  melix_release(task, b);
  EXPECT_EQ(format(&chain.type, &copy), "Node(3, \"\", Node(1, \"hi\", End))");
  melix_release(task, copy);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, printing_a_chain_that_is_too_deep_is_a_panic) {
  MELIX_NOT_UNDER_GUARD_PAGES();
  ChainType chain;
  void* first = chainEnd;
  for (int64_t k = 0; k < 300'000; k++) first = chain.node(task, k, {nullptr, 0}, first);
  setenv("MELIX_STACK", "16M", 1);
  EXPECT_EQ(format(&chain.type, &first), "panic: stack overflow: recursion without end?");
  unsetenv("MELIX_STACK");
  melix_release_word(task, first);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, lists_grow_and_keep_values) {
  void* list = nullptr;
  const MelixType* elem = scalar(MELIX_KIND_I64);
  for (int64_t k = 0; k < 1000; k++) *static_cast<int64_t*>(melix_list_push(task, &list, elem)) = k * k;
  EXPECT_EQ(melix_list_length(list), 1000);
  melix_retain(task, list);
  void* shared = list;
  *static_cast<int64_t*>(melix_list_push(task, &list, elem)) = -1; // copies
  EXPECT_NE(list, shared);
  EXPECT_EQ(melix_list_length(shared), 1000);
  EXPECT_EQ(*static_cast<int64_t*>(melix_list_pop(task, &list, elem)), -1);
  EXPECT_EQ(*static_cast<int64_t*>(melix_list_pop(task, &list, elem)), 999 * 999);
  EXPECT_EQ(melix_list_length(list), 999);
  melix_release(task, shared);
  void* array = melix_list_to_array(task, list, elem);
  EXPECT_EQ(static_cast<int64_t*>(array)[998], 998 * 998);
  void* again = melix_list_from_array(task, array, 999, elem);
  EXPECT_EQ(melix_list_length(again), 999);
  melix_release(task, array);
  melix_release(task, again);
  melix_release(task, list);
  EXPECT_EQ(live(), 0);
  void* empty = nullptr;
  EXPECT_EQ(melix_list_pop(task, &empty, elem), nullptr);
  EXPECT_EQ(melix_list_length(nullptr), 0);
}

TEST_F(Memory, lists_own_their_elements) {
  const MelixType* elem = scalar(MELIX_KIND_STR);
  void* list = nullptr;
  for (int k = 0; k < 10; k++) {
    auto* text = static_cast<uint8_t*>(melix_alloc(task, 1));
    text[0] = static_cast<uint8_t>('a' + k);
    *static_cast<MelixStr*>(melix_list_push(task, &list, elem)) = {text, 1};
  }
  EXPECT_EQ(live(), 11);
  melix_retain(task, list);
  void* other = list;
  melix_list_reserve(task, &other, elem, 100);
  auto* popped = static_cast<MelixStr*>(melix_list_pop(task, &other, elem));
  EXPECT_EQ(text(*popped), "j");
  melix_release(task, const_cast<uint8_t*>(popped->data));
  EXPECT_EQ(format(&melix_type_str_list, &list), R"(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])");
  melix_release(task, list);
  EXPECT_EQ(format(&melix_type_str_list, &other), R"(["a", "b", "c", "d", "e", "f", "g", "h", "i"])");
  void* array = melix_list_to_array(task, other, elem);
  melix_release(task, other);
  EXPECT_EQ(text(static_cast<MelixStr*>(array)[8]), "i");
  melix_release(task, array);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, large_blocks_are_used_again) {
  MELIX_NOT_UNDER_GUARD_PAGES();
  constexpr int64_t mib = 1 << 20;
  auto* first = static_cast<uint8_t*>(melix_alloc(task, 40 * mib));
  std::memset(first, 7, 40 * mib);
  melix_release(task, first);
  auto* second = static_cast<uint8_t*>(melix_alloc_zeroed(task, 30 * mib));
  EXPECT_EQ(second, first);
  EXPECT_EQ(std::count(second, second + 30 * mib, 0), 30 * mib);
  void* third = melix_alloc(task, 40 * mib);
  melix_release(task, second);
  EXPECT_EQ(melix_stats(task).liveBytes, 40 * mib);
  void* small = melix_alloc(task, 16 * mib); // much less than what was freed
  EXPECT_NE(small, second);
  std::vector<void*> many(12);
  for (void*& m : many) m = melix_alloc(task, 100 * mib);
  for (void* m : many) melix_release(task, m);
  melix_release(task, third);
  melix_release(task, small);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, the_place_of_a_block_says_whether_it_is_worth_storing_past_the_cache) {
  MELIX_NOT_UNDER_GUARD_PAGES();
  auto isStreamed = [this](int64_t bytes) {
    void* data = melix_alloc(task, bytes);
    const bool out = reinterpret_cast<uintptr_t>(data) % MELIX_LARGE_ALIGN == MELIX_HEADER_BYTES;
    melix_release(task, data);
    return out;
  };
  EXPECT_TRUE(isStreamed(MELIX_STREAMED_BYTES));
  EXPECT_FALSE(isStreamed(MELIX_STREAMED_BYTES - 1)); // in the same memory
  EXPECT_TRUE(isStreamed(5 * MELIX_STREAMED_BYTES + 1));
  EXPECT_FALSE(isStreamed(MELIX_STREAMED_BYTES / 2));
}

TEST_F(Memory, sizes_that_cannot_be_are_panics) {
  EXPECT_EQ(run([&] { melix_alloc(task, INT64_MAX / 2); }), MELIX_PANIC);
  EXPECT_EQ(message(), "out of memory: 4611686018427387903 bytes asked for");
  int64_t negative[] = {3, -1}, huge[] = {1ll << 40, 1ll << 40}, hidden[] = {1ll << 40, 1ll << 40, 0},
          axis[] = {(1ll << 47) + 1, 0}, zero[] = {1ll << 40, 1ll << 7, 0}, fine[] = {3, 5};
  EXPECT_EQ(run([&] { melix_checked_bytes(task, 4, 2, negative); }), MELIX_PANIC);
  EXPECT_EQ(message(), "dimension 1 of an array is -1");
  EXPECT_EQ(run([&] { melix_checked_bytes(task, 4, 2, huge); }), MELIX_PANIC);
  EXPECT_EQ(message(), "an array of this shape is too large");
  EXPECT_EQ(run([&] { melix_checked_bytes(task, 4, 3, hidden); }), MELIX_PANIC);
  EXPECT_EQ(run([&] { melix_checked_bytes(task, 4, 2, axis); }), MELIX_PANIC);
  EXPECT_EQ(melix_checked_bytes(task, 4, 3, zero), 0);
  EXPECT_EQ(melix_checked_bytes(task, 4, 2, fine), 60);
}

TEST_F(Memory, a_panic_frees_what_was_made_since) {
  void* before = melix_alloc(task, 100);
  EXPECT_EQ(run([&] {
              for (int k = 0; k < 100; k++) melix_alloc(task, 64 << (k % 12));
              run([&] { // a panic inside a panic's landing
                melix_alloc(task, 10);
                melix_panic(task, reinterpret_cast<const uint8_t*>("inner"), 5);
              });
              EXPECT_EQ(message(), "inner");
              EXPECT_EQ(live(), 101);
              melix_panic(task, reinterpret_cast<const uint8_t*>("outer"), 5);
            }),
            MELIX_PANIC);
  EXPECT_EQ(message(), "outer");
  EXPECT_EQ(live(), 1);
  melix_release(task, before);
  EXPECT_EQ(live(), 0);
}

TEST_F(Memory, what_is_made_in_a_body_that_ends_well_stays) {
  void* made = nullptr;
  EXPECT_EQ(run([&] { made = melix_alloc(task, 10); }), MELIX_OK);
  EXPECT_EQ(live(), 1);
  melix_release(task, made);
  EXPECT_EQ(live(), 0);
}

} // namespace
} // namespace melix::test
