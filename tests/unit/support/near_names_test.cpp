#include "support/near_names.h"

#include <gtest/gtest.h>

namespace melix {
namespace {

TEST(NearNames, OneEditLeadsToANameOfFiveCharacters) {
  const std::vector<std::string_view> known = {"print", "reshape", "argmax", "cos",
                                               "str",   "Set",     "mean",   "iter"};
  EXPECT_EQ(nearestName("prnt", known), "print");
  EXPECT_EQ(nearestName("printt", known), "print");
  EXPECT_EQ(nearestName("prixt", known), "print");
  EXPECT_EQ(nearestName("pritn", known), "print");
  EXPECT_EQ(nearestName("resahep", known), "");
  EXPECT_EQ(nearestName("reshaep", known), "reshape");
  for (const char* other : {"std", "det", "cov", "median", "interp", "coss", "men", "prn"})
    EXPECT_EQ(nearestName(other, known), "") << other;
}

TEST(NearNames, CaseAndUnderscoresDoNotCount) {
  const std::vector<std::string_view> known = {"relu", "log_softmax", "argmax", "n"};
  EXPECT_EQ(nearestName("ReLU", known), "relu");
  EXPECT_EQ(nearestName("LogSoftmax", known), "log_softmax");
  EXPECT_EQ(nearestName("logsoftmax", known), "log_softmax");
  EXPECT_EQ(nearestName("arg_max", known), "argmax");
  EXPECT_EQ(nearestName("N", known), "n");
  EXPECT_EQ(nearestName("m", known), "");
}

TEST(NearNames, PartsAreWholeWordsAndMostOfTheName) {
  const std::vector<std::string_view> known = {"cross_entropy", "sort", "loss", "data", "sum", "one_hot"};
  EXPECT_EQ(nearestName("cross_entropy_loss", known), "cross_entropy");
  EXPECT_EQ(nearestName("entropy", known), "cross_entropy");
  EXPECT_EQ(nearestName("sort_by", known), "sort");
  EXPECT_EQ(nearestName("sorts", known), "sort");
  EXPECT_EQ(nearestName("oneHotEncode", known), "one_hot");
  for (const char* other : {"sorting", "training_loss", "data_loader", "sums", "sum_of", "hot"})
    EXPECT_EQ(nearestName(other, known), "") << other;
}

TEST(NearNames, TheNearestGoesFirst) {
  EXPECT_EQ(nearestName("lower", {"lower_x", "lowers", "Lower"}), "Lower");
  EXPECT_EQ(nearestName("lower", {"lower_x", "lowers"}), "lowers");
  EXPECT_EQ(nearestName("count", {"counts", "counta"}), "counts");
  EXPECT_EQ(nearestName("count", {"count"}), "");
}

TEST(NearNames, DigitsAreNotMisspelt) {
  EXPECT_EQ(nearestName("layer3", {"layer1", "layer2", "layer"}), "");
  EXPECT_TRUE(isOneEdit("layerx", "layer1"));
}

} // namespace
} // namespace melix
