// References to callables of every kind.
#include "support/function_ref.h"

#include <gtest/gtest.h>

namespace melix {
namespace {

int twice(int x) { return 2 * x; }
int apply(FunctionRef<int(int)> f, int x) { return f(x); }

TEST(FunctionRef, CallsFunctionsAndObjects) {
  int calls = 0;
  auto counts = [&calls](int x) { return ++calls, x + 1; };
  EXPECT_EQ(apply(twice, 3), 6);
  EXPECT_EQ(apply(&twice, 3), 6);
  EXPECT_EQ(apply(counts, 3), 4);
  EXPECT_EQ(apply([](int x) { return -x; }, 3), -3);
  EXPECT_EQ(calls, 1); // the object itself was called, no copy
}

TEST(FunctionRef, ACopyRefersToTheSameObject) {
  struct Counter {
    int calls = 0;
    int operator()(int x) { return calls += x; }
  } counter;
  const FunctionRef<int(int)> first = counter;
  const FunctionRef<int(int)> second = first;
  first(2);
  EXPECT_EQ(second(3), 5);
  EXPECT_EQ(counter.calls, 5);
}

TEST(FunctionRef, NoneIsFalse) {
  EXPECT_FALSE(FunctionRef<void()>());
  EXPECT_FALSE(FunctionRef<void()>(nullptr));
  EXPECT_TRUE(FunctionRef<int(int)>(twice));
}

} // namespace
} // namespace melix
