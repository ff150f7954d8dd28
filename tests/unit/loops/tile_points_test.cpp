// Which kernels of a device run by tiles of points, and when a launch does.
#include "loops/groups/tile_points.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A launch of a kernel over points of two axes: the statements of a point.
std::string program(const std::string& point) {
  return R"(fn @f(size %m: i64, size %n: i64, size %k: i64, %x: data, %y: data, %z: data) on gpu {
  %p = mul %m, %n : i64
  launch @k %p, %p, %m, %n, %k, %x, %y, %z
  yield
}

device @k(%b: i64, %e: i64, size %m: i64, size %n: i64, size %k: i64, %x: data, %y: data, %z: data) on gpu grid {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %zero = const 0.0 : f32
  for independent %b, %e { (%p)
    %j = irem %p, %n : i64
    %i = idiv %p, %n : i64
)" + point +
         "    yield\n  }\n  yield\n}\n";
}

std::string tiled(const std::string& point) {
  return textAfter(program(point), [](Module& module) {
    tilePoints(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

constexpr const char* product = R"(    %s = for independent %0, %k, %zero : f32 { (%l, %c)
      %a = load %x[%i*%k + %l*%1] : f32
      %v = load %y[%l*%n + %j*%1] : f32
      %r = fma %a, %v, %c : f32
      yield %r
    }
    store %z[%p*%1] = %s
)";

TEST(TilePoints, ALaunchTakesTilesWhereItHasTheRowsAndColumns) {
  const std::string text = tiled(product);
  EXPECT_EQ(text.substr(0, text.find("\n}")),
            R"(fn @f(size %m: i64, size %n: i64, size %k: i64, %x: data, %y: data, %z: data) on gpu {
  %p = mul %m, %n : i64
  %0 = const 1 : i64
  %1 = const 64 : i64
  %2 = const 0 : i64
  %3 = max %n, %0 : i64
  %4 = idiv %p, %3 : i64
  %5 = const 32 : i64
  %6 = cmp ge %4, %5 : bool
  %7 = cmp ge %n, %5 : bool
  %8 = and %6, %7 : bool
  %9 = max %4, %0 : i64
  %10 = idiv %4, %9 : i64
  %11 = mul %10, %4 : i64
  %12 = mul %11, %n : i64
  %13 = cmp eq %12, %p : bool
  %14 = and %8, %13 : bool
  if %14 {
    %15 = sub %1, %0 : i64
    %16 = add %4, %15 : i64
    %17 = idiv %16, %1 : i64
    %18 = sub %1, %0 : i64
    %19 = add %n, %18 : i64
    %20 = idiv %19, %1 : i64
    %21 = mul %10, %17 : i64
    %22 = mul %21, %20 : i64
    launch @k.tiles %22, %p, %m, %n, %k, %x, %y, %z, %4
    yield
  } {
    launch @k %p, %p, %m, %n, %k, %x, %y, %z
    yield
  }
  yield)");
}

TEST(TilePoints, ABlockHasBothSidesOfTheSumAndAThreadSixteenPoints) {
  const std::string text = tiled(product);
  const std::string kernel = text.substr(text.find("device @k.tiles"));
  EXPECT_NE(kernel.find(" grid group 256 tile 64 "), std::string::npos);
  EXPECT_EQ(count(kernel, "shared 4096 : address"), 2U);
  EXPECT_EQ(count(kernel, "barrier"), 2U);
  EXPECT_EQ(count(kernel, "= fma"), 16U);
  EXPECT_EQ(count(kernel, "store %z"), 16U);
  EXPECT_EQ(count(kernel, "load %x"), 4U); // of 64 rows and 16 terms, each by 256 threads
}

TEST(TilePoints, ALoadAcrossTheStoresIsMadeInItsOwnOrder) {
  const std::string text = tiled("    %a = load %x[%j*%m + %i*%1] : f32\n    store %z[%p*%1] = %a\n");
  const std::string kernel = text.substr(text.find("device @k.tiles"));
  EXPECT_EQ(count(kernel, "shared 16640 : address"), 1U);
  EXPECT_EQ(count(kernel, "barrier"), 1U);
  EXPECT_EQ(count(kernel, "load %x"), 16U);
}

/// A value that two operands of each step use is looked at once: 2^200 times would not end.
TEST(TilePoints, AnOperandOfManySquaresIsReadOnce) {
  std::string squares = R"(    %s = for independent %0, %k, %zero : f32 { (%l, %c)
      %a0 = load %x[%i*%k + %l*%1] : f32
)";
  for (int k = 0; k < 200; ++k) {
    const std::string of = " %a" + std::to_string(k);
    squares += "      %a" + std::to_string(k + 1) + " = mul" + of + "," + of + " : f32\n";
  }
  const std::string text = tiled(squares + R"(      %v = load %y[%l*%n + %j*%1] : f32
      %r = fma %a200, %v, %c : f32
      yield %r
    }
    store %z[%p*%1] = %s
)");
  // A thread computes 4 elements; 19 products are of indices.
  EXPECT_EQ(count(text.substr(text.find("device @k.tiles")), "= mul"), 4 * 200U + 19);
}

TEST(TilePoints, WhatSharesNothingStaysAsItIs) {
  const char* points[] = {"    %a = load %x[%p*%1] : f32\n    store %z[%p*%1] = %a\n",
                          // Each point has terms of its own.
                          R"(    %s = for independent %0, %k, %zero : f32 { (%l, %c)
      %q = mul %p, %k : i64
      %a = load %x[%q*%1 + %l*%1] : f32
      %r = add %a, %c : f32
      yield %r
    }
    store %z[%p*%1] = %s
)",
                          // As many terms as a row says.
                          R"(    %s = for independent %0, %i, %zero : f32 { (%l, %c)
      %a = load %x[%i*%k + %l*%1] : f32
      %v = load %y[%l*%n + %j*%1] : f32
      %r = fma %a, %v, %c : f32
      yield %r
    }
    store %z[%p*%1] = %s
)",
                          // A check.
                          R"(    %g = cmp lt %j, %k : bool
    check "is {0}" %g, %j
    %s = for independent %0, %k, %zero : f32 { (%l, %c)
      %a = load %x[%i*%k + %l*%1] : f32
      %v = load %y[%l*%n + %j*%1] : f32
      %r = fma %a, %v, %c : f32
      yield %r
    }
    store %z[%p*%1] = %s
)"};
  for (const char* point : points) EXPECT_EQ(tiled(point), textAfter(program(point), [](Module&) {}));
}

} // namespace
} // namespace melix::loops
