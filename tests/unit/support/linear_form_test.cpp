// Linear forms as data: sums, terms that cancel out, what is small.
#include "support/linear_form.h"

#include <gtest/gtest.h>

#include <string>

using namespace melix;

namespace {

using Form = LinearForm<std::string>;

TEST(LinearFormData, TermsThatCancelOutAreGone) {
  Form sum{{{"i", 2}, {"n", 1}}, 3};
  sum.add(Form{{{"i", 1}, {"j", 4}}, 5}, -2);
  EXPECT_EQ(sum, (Form{{{"n", 1}, {"j", -8}}, -7}));
  EXPECT_EQ(sum.factorOf("i"), 0);
  EXPECT_EQ(sum.factorOf("j"), -8);
}

TEST(LinearFormData, FactorsAndConstantsWrap) {
  Form sum{{{"i", INT64_MAX}}, INT64_MAX};
  sum.add(Form{{{"i", 1}}, 1}, 1);
  EXPECT_EQ(sum, (Form{{{"i", INT64_MIN}}, INT64_MIN}));
  sum.add(Form(sum), 1);
  EXPECT_EQ(sum, Form());
}

TEST(LinearFormData, SmallFormsDoNotWrap) {
  EXPECT_TRUE(isSmall(Form{{{"i", 1 << 11}, {"j", -(1 << 11)}}, smallNumber}));
  EXPECT_FALSE(isSmall(Form{{{"i", 1 << 11}, {"j", -(1 << 11)}, {"k", 1}}, 0})) << "together";
  EXPECT_FALSE(isSmall(Form{{{"i", INT64_MIN}}, 0}));
  EXPECT_FALSE(isSmall(Form{{{"i", 1}}, INT64_MIN}));
}

} // namespace
