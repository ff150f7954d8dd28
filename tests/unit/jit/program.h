#pragma once
// Programs as Core text, compiled and run in the test's process. Records are flattened first, as loops/ wants.

#include "codegen/codegen.h"
#include "core/ir/ir.h"
#include "jit/jit.h"
#include "melix/abi.h"

#include <string>
#include <string_view>
#include <vector>

namespace melix::jit {

struct Outcome {
  std::string error;  ///< of parsing, verifying or compiling; empty if it ran
  int32_t status = 0; ///< of melix_catch
  int64_t result = 0; ///< of `main`
  std::string panic;  ///< message, place and trace
  std::string output; ///< what it printed
  MelixStats stats{}; ///< when it had ended: live blocks must be 0
};

/// A way to compile, all of which give the same bits.
struct Way {
  const char* name;
  codegen::Options options;
};
/// For this processor, for any of its kind, without optimising, with LLVM's vectoriser in place of lanes, and
/// with memory reached as on a device: address spaces, which this processor takes for one, and short indices.
std::vector<Way> waysToCompile();

struct Program {
  explicit Program(std::string_view coreText);

  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  std::string error;

  /// Runs `main`, which gives an i64; every launch on the pool.
  Outcome run(const codegen::Options& options = {});
};

/// The program compiled as usual.
Outcome run(std::string_view coreText);

/// `@fill` adds its index to each of the first `n` elements of an array, one in an iteration.
inline constexpr const char* writeEach = R"(
fn fill [N] (%x: i64[N], %n: i64) -> (i64[N]) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %i1, %y = while %zero, %x { (%i: i64, %a: i64[N])
    %c = cmp lt %i, %n : bool
    yield %c
  } { (%i2: i64, %a2: i64[N])
    %v = get %a2[%i2] : i64
    %w = add %v, %i2 : i64
    %b = set %a2[%i2] = %w : i64[N]
    %j = add %i2, %one : i64
    yield %j, %b
  } : i64, i64[N]
  yield %y
}
)";

/// A module whose entry gives an i64.
Outcome run(const loops::Module& module, const codegen::Options& options);

} // namespace melix::jit
