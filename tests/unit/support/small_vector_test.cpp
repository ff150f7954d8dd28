// SmallVector against std::vector, within its own room and beyond.
#include "support/ids.h"
#include "support/small_vector.h"

#include <gtest/gtest.h>

#include <string>

using namespace melix;

namespace {

struct Tag;
using List = SmallVector<Id<Tag>, 2>;

std::vector<uint32_t> indices(const List& list) {
  std::vector<uint32_t> out;
  for (Id<Tag> id : list) out.push_back(id.index);
  return out;
}

List listOf(uint32_t count) {
  List out;
  for (uint32_t k = 0; k < count; ++k) out.push_back(Id<Tag>(k));
  return out;
}

TEST(SmallVector, changes_like_a_vector) {
  for (uint32_t count = 0; count < 9; ++count)
    for (uint32_t at = 0; at <= count; ++at) {
      List list = listOf(count);
      std::vector<uint32_t> wanted = indices(list);
      const List more = listOf(3);
      const Id<Tag>* put = list.insert(list.begin() + at, more.begin(), more.end());
      EXPECT_EQ(put, list.begin() + at);
      wanted.insert(wanted.begin() + at, {0, 1, 2});
      EXPECT_EQ(indices(list), wanted);
      const Id<Tag>* next = list.erase(list.begin() + at);
      EXPECT_EQ(next, list.begin() + at);
      wanted.erase(wanted.begin() + at);
      list.insert(list.end(), list[0]); // an element of its own
      wanted.push_back(wanted[0]);
      list.resize(list.size() + 1, Id<Tag>(7));
      wanted.push_back(7);
      EXPECT_EQ(indices(list), wanted);
      EXPECT_EQ(list.back(), Id<Tag>(7));
      list.resize(1);
      EXPECT_EQ(list.size(), 1U);
    }
}

TEST(SmallVector, a_copy_has_elements_of_its_own_and_a_move_takes_them) {
  for (uint32_t count : {0U, 1U, 2U, 3U, 40U}) {
    List list = listOf(count), copy = list;
    EXPECT_EQ(copy, list);
    copy.push_back(Id<Tag>(9));
    EXPECT_NE(copy, list);
    List moved = std::move(copy);
    EXPECT_EQ(moved.size(), count + 1);
    EXPECT_TRUE(copy.empty()); // NOLINT(bugprone-use-after-move): a moved list is empty
    copy = moved;
    moved = listOf(2);
    EXPECT_EQ(copy.size(), count + 1);
    EXPECT_EQ(moved, listOf(2));
    copy.clear();
    EXPECT_TRUE(copy.empty());
  }
}

TEST(SmallVector, is_made_of_any_list_of_the_same_values) {
  const std::vector<Id<Tag>> vector{Id<Tag>(3), Id<Tag>(1), Id<Tag>(2)};
  const List list = vector;
  EXPECT_EQ(indices(list), (std::vector<uint32_t>{3, 1, 2}));
  EXPECT_EQ(std::vector<Id<Tag>>(list), vector);
  EXPECT_EQ((List{Id<Tag>(3), Id<Tag>(1), Id<Tag>(2)}), list);
}

} // namespace
