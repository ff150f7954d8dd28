// Stores: what they hold stays where it is.
#include "support/ids.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace melix {
namespace {

using TestId = Id<struct TestTag>;
using Texts = Store<TestId, std::string>;

constexpr uint32_t many = 1000;

Texts filled(uint32_t count) {
  Texts texts;
  for (uint32_t k = 0; k < count; ++k) texts.add(std::to_string(k));
  return texts;
}

void expectNumbers(const Texts& texts, uint32_t count) {
  ASSERT_EQ(texts.size(), count);
  uint32_t k = 0;
  for (const std::string& text : texts) EXPECT_EQ(text, std::to_string(k++));
  EXPECT_EQ(k, count);
}

TEST(Store, IdsAreTheNumbersInOrderOfAdding) {
  Texts texts;
  for (uint32_t k = 0; k < many; ++k) EXPECT_EQ(texts.add(std::to_string(k)), TestId(k));
  expectNumbers(texts, many);
}

TEST(Store, IdsOfRemovedValuesAreGivenAgain) {
  Texts texts = filled(many);
  for (uint32_t left = many; left-- > 0;) {
    texts.removeLast();
    ASSERT_EQ(texts.size(), left);
  }
  EXPECT_EQ(texts.begin(), texts.end());
  texts = filled(many);
  for (uint32_t k = many; k > many / 2; --k) texts.removeLast();
  const std::string* first = &texts[TestId(0)];
  for (uint32_t k = many / 2; k < many; ++k) EXPECT_EQ(texts.add(std::to_string(k)), TestId(k));
  EXPECT_EQ(first, &texts[TestId(0)]);
  expectNumbers(texts, many);
}

TEST(Store, ReferencesStayValidWhileTheStoreGrows) {
  Texts texts;
  std::vector<std::string*> at;
  for (uint32_t k = 0; k < many; ++k) at.push_back(&texts[texts.add(std::to_string(k))]);
  for (uint32_t k = 0; k < many; ++k) EXPECT_EQ(&texts[TestId(k)], at[k]);
}

TEST(Store, ReferencesIntoACopyStayValidWhileItGrows) {
  const Texts original = filled(5);
  Texts copy = original;
  std::string* last = &copy[TestId(4)];
  for (uint32_t k = 5; k < many; ++k) copy.add(std::to_string(k));
  EXPECT_EQ(&copy[TestId(4)], last);
  expectNumbers(original, 5);
  expectNumbers(copy, many);
}

TEST(Store, ACopyHasValuesOfItsOwn) {
  Texts texts = filled(many), other;
  other = texts;
  for (std::string& text : other) text += "!";
  expectNumbers(texts, many);
  EXPECT_EQ(other[TestId(many - 1)], std::to_string(many - 1) + "!");
}

TEST(Store, AMovedStoreTakesItsValuesAlong) {
  Texts texts = filled(many);
  std::string* first = &texts[TestId(0)];
  Texts moved = std::move(texts);
  EXPECT_EQ(&moved[TestId(0)], first);
  expectNumbers(moved, many);
  EXPECT_EQ(texts.size(), 0u);
  EXPECT_EQ(texts.add("0"), TestId(0));
}

TEST(Store, AWalkEndsWithWhatWasThereWhenItBegan) {
  Texts texts = filled(40);
  for (const std::string& text : texts) texts.add(text);
  EXPECT_EQ(texts.size(), 80u);
  EXPECT_EQ(texts[TestId(79)], "39");
}

TEST(Store, ValuesNeedNoDefaultAndMayBeUncopyable) {
  struct Owner {
    explicit Owner(int n) : number(std::make_unique<int>(n)) {}
    std::unique_ptr<int> number;
  };
  Store<TestId, Owner> owners;
  for (int k = 0; k < 100; ++k) owners.add(Owner(k));
  Store<TestId, Owner> moved = std::move(owners);
  EXPECT_EQ(*moved[TestId(99)].number, 99);
}

} // namespace
} // namespace melix
