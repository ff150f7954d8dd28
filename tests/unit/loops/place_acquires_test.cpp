// Where copies of arrays are made valid for the host.
#include "loops/kernels/place_acquires.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel that writes `%y`, and one that reads it.
constexpr const char* kernels = R"(
device @write(%b: i64, %e: i64, %y: data) on gpu {
  %0 = const 1 : i64
  for independent %b, %e { (%i)
    store %y[%i*%0] by 8 = %i
    yield
  }
  yield
}

device @read(%b: i64, %e: i64, %y: data, %z: data) on gpu {
  %0 = const 1 : i64
  for independent %b, %e { (%i)
    %1 = load %y[%i*%0] : i64
    store %z[%i*%0] = %1
    yield
  }
  yield
}
)";

/// The text of `@f` once acquires are placed, from its first statement on.
std::string placed(const std::string& function) {
  LoopsText loops(function + kernels);
  EXPECT_EQ(loops.read.error, "");
  EXPECT_EQ(verify(loops.module(), {State::CountsInserted}), "");
  placeAcquires(loops.module());
  EXPECT_EQ(verify(loops.module(), {State::CountsInserted}), "");
  const std::string text = loops.text();
  const size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.find("\n}", begin) + 1 - begin);
}

TEST(PlaceAcquires, BeforeTheOutermostLoopThatLaunchesNothing) {
  EXPECT_EQ(placed(R"(fn @f(size %n: i64) -> i64 on gpu {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %y = alloc i64 %n : data
  launch @write %n, %1, %y
  %s = for %0, %n, %0 : i64 { (%i, %t)
    %u = for %0, %n, %t : i64 { (%k, %v)
      %x = load %y[%k*%1] : i64
      %w = add %v, %x : i64
      yield %w
    }
    yield %u
  }
  drop %y
  yield %s
}
)"),
            R"(  %0 = const 0 : i64
  %1 = const 1 : i64
  %y = alloc i64 %n : data
  undefine %y
  launch @write %n, %1, %y
  acquire %y
  %s = for %0, %n, %0 : i64 { (%i, %t)
    %u = for %0, %n, %t : i64 { (%k, %v)
      %x = load %y[%k*%1] : i64
      %w = add %v, %x : i64
      yield %w
    }
    yield %u
  }
  drop %y
  yield %s
)");
}

TEST(PlaceAcquires, InsideALoopThatLaunches) {
  const std::string text = placed(R"(fn @f(size %n: i64, %y: data) on gpu {
  %0 = const 0 : i64
  %1 = const 1 : i64
  for %0, %n { (%i)
    launch @write %n, %1, %y
    for %0, %n { (%k)
      store %y[%k*%1] = %k
      yield
    }
    yield
  }
  yield
}
)");
  EXPECT_EQ(text, R"(  %0 = const 0 : i64
  %1 = const 1 : i64
  for %0, %n { (%i)
    launch @write %n, %1, %y
    acquire_update %y
    for %0, %n { (%k)
      store %y[%k*%1] = %k
      yield
    }
    yield
  }
  yield
)");
}

TEST(PlaceAcquires, ANumberIsCopiedAlone) {
  EXPECT_EQ(placed(R"(fn @f(size %n: i64) -> i64 on gpu {
  %1 = const 1 : i64
  %y = alloc i64 zeroed %n : data
  launch @write %n, %1, %y
  %s = load %y[%n*%1] at 8 : i64
  store %y[%1*%1] = %s
  drop %y
  yield %s
}
)"),
            R"(  %0 = const 1 : i64
  %y = alloc i64 %n : data
  clear %y
  launch @write %n, %0, %y
  %1 = const 8 : i64
  %2 = scratch 8 : address
  %3 = address_of %y[%n*%0] at 8 : address
  fetch %y, %3, %2, %1
  %s = load %2 : i64
  %4 = const 8 : i64
  %5 = scratch 8 : address
  %6 = address_of %y[%0*%0] : address
  store %5 = %s
  put %y, %6, %5, %4
  drop %y
  yield %s
)");
}

TEST(PlaceAcquires, BeforeAnAddressGoesOn) {
  const std::string text = placed(R"(fn @f(size %n: i64) -> data on gpu {
  %0 = const 0 : i64
  %y = alloc i64 zeroed %n : data
  launch @write %n, %0, %y
  %a = address_of %y : address
  %b = for %0, %n, %a : address { (%i, %c)
    %d = call @add %c : address
    yield %d
  }
  yield %y
}

fn @add(%a: address) -> address on gpu {
  %v = load %a : i64
  store %a = %v
  yield %a
}
)");
  EXPECT_NE(text.find("%a = address_of %y : address\n  acquire_update %y\n"), std::string::npos) << text;
}

TEST(PlaceAcquires, OnlyWritesOfWhatTheDeviceReads) {
  const std::string text = placed(R"(fn @f(size %n: i64, %y: data) on gpu {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %z = alloc i64 %n : data
  launch @read %n, %1, %y, %z
  for %0, %n { (%k)
    %2 = load %y[%k*%1] : i64
    store %y[%k*%1] = %2
    yield
  }
  drop %z
  yield
}
)");
  EXPECT_NE(text.find("acquire_update %y\n  for"), std::string::npos) << text;
  EXPECT_EQ(text.find("acquire %y"), std::string::npos) << text;
}

TEST(PlaceAcquires, ThroughCallsCarriesAndBranches) {
  LoopsText loops(std::string(R"(fn @f(size %n: i64, %c: bool) -> i64 on gpu {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %y = call @made %n : data
  %z = for %0, %n, %y : data { (%i, %a)
    %b = if %c : data {
      yield %a
    } {
      %d = ensure_unique %a : data
      yield %d
    }
    yield %b
  }
  %s = call @total %n, %z : i64
  drop %z
  yield %s
}

fn @made(size %n: i64) -> data on gpu {
  %1 = const 1 : i64
  %y = alloc i64 %n : data
  launch @write %n, %1, %y
  yield %y
}

fn @total(size %n: i64, %x: data) -> i64 {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %s = for %0, %n, %0 : i64 { (%i, %t)
    %v = load %x[%i*%1] : i64
    %w = add %v, %t : i64
    yield %w
  }
  yield %s
}

fn @other(size %n: i64, %x: data) -> i64 {
  %1 = const 1 : i64
  %v = load %x[%n*%1] : i64
  yield %v
}
)") + kernels);
  ASSERT_EQ(loops.read.error, "");
  placeAcquires(loops.module());
  const std::string text = loops.text();
  EXPECT_NE(text.find("acquire %x\n  %s = for"), std::string::npos) << text;
  EXPECT_EQ(text.find("fetch"), std::string::npos) << text;
}

TEST(PlaceAcquires, WithoutKernelsOfADeviceNothingChanges) {
  const std::string plain = R"(fn @f(size %n: i64, %y: data) -> i64 {
  %1 = const 1 : i64
  %s = load %y[%n*%1] : i64
  yield %s
}
)";
  LoopsText loops(plain);
  const std::string before = loops.text();
  placeAcquires(loops.module());
  EXPECT_EQ(loops.text(), before);
}

} // namespace
} // namespace melix::loops
