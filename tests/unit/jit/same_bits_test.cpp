// Compiled code against the interpreter, bit for bit: every scalar op on every kind with awkward operands,
// and every kind of reduction at sizes around the blocks and lanes of sums.
#include "core/text/parse.h"
#include "interp/interp.h"
#include "jit/program.h"
#include "ops/ops.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

using types::TypeKind;

/// Runs `main` both ways; the text is kept for messages.
void expectSame(const std::string& text, const std::string& what) {
  Program program(text);
  ASSERT_EQ(program.error, "") << what;
  interp::Program oracle(program.core);
  interp::RunResult expected = oracle.run(program.core.entry, {});
  for (const Way& way : waysToCompile()) {
    Outcome outcome = program.run(way.options);
    ASSERT_EQ(outcome.error, "") << what;
    EXPECT_EQ(outcome.stats.liveBlocks, 0) << what;
    if (expected.panicked) {
      std::string message = expected.panic.message;
      if (message.starts_with("a float "))
        message.erase(0, 7); // without a hook the interpreter does not spell floats
      EXPECT_EQ(outcome.status, MELIX_PANIC) << what;
      EXPECT_NE(outcome.panic.find(message), std::string::npos) << what << "\n" << outcome.panic;
    } else {
      EXPECT_EQ(outcome.status, MELIX_OK) << what << "\n" << outcome.panic;
      EXPECT_EQ(outcome.result, expected.values[0].slot().i) << what << ", " << way.name;
    }
  }
}

std::string name(TypeKind kind) { return std::string(types::scalarName(kind)); }

/// Bit patterns worth trying.
std::vector<uint64_t> patterns(TypeKind kind) {
  unsigned width = types::scalarBits(kind);
  uint64_t ones = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  if (kind == TypeKind::Bool) return {0, 1};
  switch (kind) {
  case TypeKind::F64:
    return {0,
            0x8000000000000000,
            0x3ff0000000000000,
            0xbff8000000000000,
            0x7ff0000000000000,
            0xfff0000000000000,
            0x7ff8000000000000,
            1,
            0x7fefffffffffffff,
            0x43e0000000000000,
            0xc3e0000000000001,
            0x41dfffffffc00000,
            0x4008000000000000,
            0x3fe0000000000000,
            0x405edd2f1a9fbe77};
  case TypeKind::F32:
    return {0, 0x80000000, 0x3f800000, 0xbfc00000, 0x7f800000, 0xff800000, 0x7fc00000,
            1, 0x7f7fffff, 0x4f000000, 0x5f000000, 0x40400000, 0x3f000000, 0x42f6e979};
  case TypeKind::F16: return {0, 0x8000, 0x3c00, 0xbe00, 0x7c00, 0xfc00, 0x7e00, 1, 0x7bff, 0x4200, 0x3555};
  case TypeKind::BF16: return {0, 0x8000, 0x3f80, 0xbfc0, 0x7f80, 0xff80, 0x7fc0, 1, 0x7f7f, 0x4040, 0x3eab};
  default: return {0, 1, 2, 3, 7, ones, ones - 1, ones >> 1, (ones >> 1) + 1, 100 & ones, (ones / 3)};
  }
}

TypeKind unsignedOf(TypeKind kind) {
  switch (types::scalarBits(kind)) {
  case 8: return TypeKind::U8;
  case 16: return TypeKind::U16;
  case 32: return TypeKind::U32;
  default: return TypeKind::U64;
  }
}

/// A function whose body grows: constants, and a running hash of what was computed.
class Text {
public:
  std::string fresh() { return "%v" + std::to_string(next_++); }
  std::string constant(TypeKind kind, uint64_t bits) {
    std::string v = fresh();
    if (types::isFloatKind(kind)) {
      std::string u = fresh();
      line(u + " = const " + std::to_string(bits) + " : " + name(unsignedOf(kind)));
      line(v + " = bitcast " + u + " : " + name(kind));
    } else if (kind == TypeKind::Bool) {
      line(v + " = const " + (bits ? "true" : "false") + " : bool");
    } else {
      unsigned width = types::scalarBits(kind);
      bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
      std::string number = isSigned
                               ? std::to_string(static_cast<int64_t>(bits << (64 - width)) >> (64 - width))
                               : std::to_string(bits);
      line(v + " = const " + number + " : " + name(kind));
    }
    return v;
  }
  std::string op(const std::string& text, TypeKind result) {
    std::string v = fresh();
    line(v + " = " + text + " : " + name(result));
    return v;
  }
  /// Mixes a value into the hash. A NaN counts as one value.
  void mix(std::string v, TypeKind kind) {
    if (types::isFloatKind(kind)) {
      std::string nan = op("cmp ne " + v + ", " + v, TypeKind::Bool), zero = constant(kind, 0);
      std::string clean = op("select " + nan + ", " + zero + ", " + v, kind);
      v = op("bitcast " + clean, unsignedOf(kind));
      if (kind != TypeKind::F64)
        v = op("convert wrap " + v, TypeKind::I64);
      else
        v = op("bitcast " + op("bitcast " + v, TypeKind::F64), TypeKind::U64),
        v = op("convert wrap " + v, TypeKind::I64);
      std::string n = op("convert wrap " + nan, TypeKind::I64);
      v = op("add " + v + ", " + n, TypeKind::I64);
    } else if (kind != TypeKind::I64) {
      v = op("convert wrap " + v, TypeKind::I64);
    }
    if (hash_.empty()) hash_ = constant(TypeKind::I64, 17);
    std::string prime = constant(TypeKind::I64, 1099511628211);
    hash_ = op("add " + op("mul " + hash_ + ", " + prime, TypeKind::I64) + ", " + v, TypeKind::I64);
  }
  void check(const std::string& text) { line(text); }
  std::string finish() { return "fn main () -> (i64) {\n" + body_ + "  yield " + hash_ + "\n}\n"; }

private:
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  std::string body_, hash_;
  unsigned next_ = 0;
};

const TypeKind intKinds[] = {TypeKind::I8, TypeKind::I16, TypeKind::I32, TypeKind::I64,
                             TypeKind::U8, TypeKind::U16, TypeKind::U32, TypeKind::U64};
const TypeKind floatKinds[] = {TypeKind::F16, TypeKind::BF16, TypeKind::F32, TypeKind::F64};

void binaries(const std::vector<std::string>& ops, TypeKind kind, TypeKind result) {
  for (const std::string& op : ops) {
    Text text;
    for (uint64_t a : patterns(kind))
      for (uint64_t b : patterns(kind)) {
        std::string x = text.constant(kind, a), y = text.constant(kind, b);
        text.mix(text.op(op + " " + x + ", " + y, result), result);
      }
    expectSame(text.finish(), op + " " + name(kind));
  }
}

void unaries(const std::vector<std::string>& ops, TypeKind kind) {
  Text text;
  for (const std::string& op : ops)
    for (uint64_t a : patterns(kind)) text.mix(text.op(op + " " + text.constant(kind, a), kind), kind);
  expectSame(text.finish(), "unary ops of " + name(kind));
}

TEST(SameBits, IntegerOps) {
  for (TypeKind kind : intKinds) {
    binaries({"add", "sub", "mul", "idiv", "irem", "and", "or", "xor", "shl", "shr", "min", "max"}, kind,
             kind);
    binaries({"cmp eq", "cmp ne", "cmp lt", "cmp le", "cmp gt", "cmp ge"}, kind, TypeKind::Bool);
    unaries({"neg", "not", "abs"}, kind);
  }
  binaries({"and", "or", "xor", "cmp eq", "cmp ne", "cmp lt"}, TypeKind::Bool, TypeKind::Bool);
  unaries({"not"}, TypeKind::Bool);
}

/// The ops rounded down and up, of as many operands.
std::vector<std::string> directed(unsigned arity) {
  std::vector<std::string> out;
  for (uint32_t k = 0; k < ops::directedCount; ++k)
    if (const auto kind = static_cast<ops::DirectedKind>(k); ops::directedArity(kind) == arity)
      out.push_back("directed " + std::string(ops::directedRow(kind).name));
  return out;
}

TEST(SameBits, FloatOps) {
  for (TypeKind kind : floatKinds) {
    binaries({"add", "sub", "mul", "div", "min", "max", "scale any"}, kind, kind);
    binaries({"cmp eq", "cmp ne", "cmp lt", "cmp le", "cmp gt", "cmp ge"}, kind, TypeKind::Bool);
    unaries({"neg", "abs", "sqrt", "round floor", "round ceil", "round trunc", "round half_even"}, kind);
    Text text;
    for (uint64_t a : patterns(kind))
      for (uint64_t b : patterns(kind)) {
        std::string x = text.constant(kind, a), y = text.constant(kind, b),
                    z = text.constant(kind, patterns(kind)[3]);
        text.mix(text.op("fma " + x + ", " + y + ", " + z, kind), kind);
        if (patterns(kind)[6] != b) text.mix(text.op("copysign " + x + ", " + y, kind), kind);
      }
    expectSame(text.finish(), "fma and copysign of " + name(kind));
  }
  binaries(directed(2), TypeKind::F64, TypeKind::F64);
  unaries(directed(1), TypeKind::F64);
}

TEST(SameBits, Conversions) {
  std::vector<TypeKind> all(std::begin(intKinds), std::end(intKinds));
  all.insert(all.end(), std::begin(floatKinds), std::end(floatKinds));
  for (TypeKind from : all)
    for (TypeKind to : all) {
      Text text;
      for (uint64_t a : patterns(from)) {
        std::string x = text.constant(from, a);
        text.mix(text.op("convert saturate " + x, to), to);
        if (types::isIntKind(from) && types::isIntKind(to)) text.mix(text.op("convert wrap " + x, to), to);
      }
      expectSame(text.finish(), "conversions from " + name(from) + " to " + name(to));
    }
}

TEST(SameBits, Checks) {
  const char* const lines[] = {
      "check index \"\" %a dims [5]",
      "check slice \"\" %a, %b dims [5]",
      "check list_index \"\" %a, %b",
      "check divisor \"\" %a",
      "check divide_overflow \"\" %a, %b",
      "check exponent \"\" %a",
      "check dim_equal \"the sizes\" dims [3, 5]",
      "check dim_non_negative \"N - 1\" dims [-1]",
      "check not_empty \"max\" dims [0]",
      "%c = cmp lt %a, %b : bool\n  check assert \"a < b\" %c",
  };
  for (const char* line : lines)
    for (int64_t a : {int64_t(-1), int64_t(0), int64_t(2), int64_t(5), int64_t(6), INT64_MIN})
      for (int64_t b : {int64_t(-1), int64_t(0), int64_t(4), int64_t(7)})
        expectSame("fn main () -> (i64) {\n  %a = const " + std::to_string(a) + " : i64\n  %b = const " +
                       std::to_string(b) + " : i64\n  " + line + "\n  yield %a\n}\n",
                   std::string(line) + " with " + std::to_string(a) + ", " + std::to_string(b));
  std::vector<TypeKind> all(std::begin(intKinds), std::end(intKinds));
  all.insert(all.end(), std::begin(floatKinds), std::end(floatKinds));
  for (TypeKind from : all)
    for (TypeKind to : intKinds)
      for (uint64_t bits : patterns(from)) {
        Text text;
        std::string x = text.constant(from, bits);
        text.check("check converts \"" + name(to) + "\" of " + name(to) + " " + x);
        text.mix(text.op("convert saturate " + x, to), to);
        expectSame(text.finish(),
                   "whether " + std::to_string(bits) + " of " + name(from) + " fits " + name(to));
      }
}

/// All pairs of patterns, each twice, in a nest whose inner loop is widened: `op` of `%a` and `%b`. Then the
/// bits of the results, each with a weight of its own; a NaN counts as one value.
void inLanes(const std::string& op, TypeKind kind, TypeKind result) {
  Text text;
  std::string all;
  size_t count = 0;
  for (int turn = 0; turn < 2; ++turn)
    for (uint64_t v : patterns(kind)) {
      all += (count ? ", " : "") + text.constant(kind, v);
      ++count;
    }
  const std::string n = std::to_string(count), from = name(kind), to = name(result);
  const std::string axes = "(%i: " + n + ", %j: " + n + ")";
  text.check("%x = array " + all + " : " + from + "[" + n + "]");
  text.check("%y = nest " + axes + " -> collect[i, j] {\n    %a = get %x[%i] : " + from +
             "\n    %b = get %x[%j] : " + from + "\n    %r = " + op + " : " + to +
             "\n    yield %r\n  } : " + to + "[" + n + ", " + n + "]");
  std::string bits = "%v = get %y[%i2, %j2] : " + to + "\n    ";
  if (types::isFloatKind(result))
    bits += "%nan = cmp ne %v, %v : bool\n    %u = bitcast %v : " + name(unsignedOf(result)) +
            "\n    %w0 = convert wrap %u : i64\n    %seven = const 7 : i64\n    %w = select %nan, %seven, "
            "%w0 : i64\n";
  else
    bits += "%w = convert wrap %v : i64\n";
  text.check("%h = nest (%i2: " + n + ", %j2: " + n + ") -> keep[] sum {\n    " + bits +
             "    %p = const 1099511628211 : i64\n    %q = const 8191 : i64\n    %r1 = mul %i2, %p : i64\n" +
             "    %r2 = mul %j2, %q : i64\n    %r3 = add %r1, %r2 : i64\n    %r4 = mul %r3, %r3 : i64\n" +
             "    %r5 = mul %r4, %w : i64\n    yield %r5\n  } : i64");
  text.mix("%h", TypeKind::I64);
  expectSame(text.finish(), op + " of " + from + " to " + to + " in lanes");
}

TEST(SameBits, OpsInLanes) {
  const std::vector<std::string> order{"cmp eq", "cmp ne", "cmp lt", "cmp le", "cmp gt", "cmp ge"};
  auto pairs = [](const std::vector<std::string>& ops, TypeKind kind, TypeKind result) {
    for (const std::string& op : ops) inLanes(op + " %a, %b", kind, result);
  };
  for (TypeKind kind : intKinds) {
    pairs({"add", "sub", "mul", "idiv", "irem", "and", "or", "xor", "shl", "shr", "min", "max"}, kind, kind);
    pairs(order, kind, TypeKind::Bool);
    inLanes("neg %a", kind, kind);
    for (TypeKind to :
         {TypeKind::I8, TypeKind::I64, TypeKind::F16, TypeKind::BF16, TypeKind::F32, TypeKind::F64})
      inLanes("convert saturate %a", kind, to);
  }
  for (TypeKind kind : floatKinds) {
    pairs({"add", "sub", "mul", "div", "min", "max", "scale any"}, kind, kind);
    pairs(order, kind, TypeKind::Bool);
    for (const char* op : {"sqrt %a", "round floor %a", "round half_even %a", "fma %a, %b, %a", "abs %a"})
      inLanes(op, kind, kind);
    for (TypeKind to :
         {TypeKind::I8, TypeKind::U64, TypeKind::F16, TypeKind::BF16, TypeKind::F32, TypeKind::F64})
      inLanes("convert saturate %a", kind, to);
  }
  pairs(directed(2), TypeKind::F64, TypeKind::F64);
  for (const std::string& op : directed(1)) inLanes(op + " %a", TypeKind::F64, TypeKind::F64);
}

/// A reduction of one axis by `term` of `%v`, of whose results the bits are given. Its size is `size`: a
/// number, or a symbol of the function.
std::string reductionOf(const std::string& how, TypeKind kind, const std::string& size,
                        const std::string& term) {
  const std::string t = name(kind), result = how.starts_with("arg") ? "i64" : t;
  const bool isSymbol = size == "N";
  std::string text = std::string("fn reduce") + (isSymbol ? " [N]" : "") + " (%x: " + t + "[" + size +
                     "]) -> (i64) {\n" + "  %r = nest (%j: " + size + ") -> keep[] " + how +
                     " {\n    %v = get %x[%j] : " + t + "\n" + term + "  } : " + result + "\n";
  if (result == "i64") return text + "  yield %r\n}\n";
  if (types::isFloatKind(kind)) text += "  %u = bitcast %r : " + name(unsignedOf(kind)) + "\n";
  return text + "  %w = convert wrap " + (types::isFloatKind(kind) ? "%u" : "%r") + " : i64\n  yield %w\n}\n";
}

/// `@values` of a size: what arrays are filled with.
std::string valuesOf(TypeKind kind, const std::string& size) {
  const std::string t = name(kind), type = t + "[" + size + "]";
  return "fn values" + size + " () -> (" + type + ") {\n  %x = nest (%i: " + size +
         ") -> collect[i] {\n    %k = const 7919 : i64\n    %m = const 1009 : i64\n    %a = mul %i, %k : "
         "i64\n" +
         "    %b = irem %a, %m : i64\n    %c = convert saturate %b : f64\n    %d = const 37.3 : f64\n" +
         "    %e = sub %c, %d : f64\n    %e2 = div %e, %d : f64\n    %f = convert saturate %e2 : " + t +
         "\n    yield %f\n  } : " + type + "\n  yield %x\n}\n";
}

/// `main` hashes what `@reduce` makes of arrays of these sizes.
std::string mainOf(TypeKind kind, const std::vector<int64_t>& sizes, bool isSymbol) {
  Text main;
  std::string values;
  for (int64_t n : sizes) {
    const std::string size = std::to_string(n), x = main.fresh();
    values += valuesOf(kind, size);
    main.check(x + " = call @values" + size + " : " + name(kind) + "[" + size + "]");
    main.mix(main.op("call @reduce " + x + (isSymbol ? " dims [" + size + "]" : ""), TypeKind::I64),
             TypeKind::I64);
  }
  return values + main.finish();
}

/// Sizes around lanes and blocks, all by one function that learns them when it runs; some are known when
/// compiling.
void expectReduction(const std::string& how, TypeKind kind, const std::string& term = "    yield %v\n") {
  const std::string what = how + " of " + name(kind);
  std::vector<int64_t> sizes{1, 31, 33, 64, 100, 8191, 8192, 8193, 20000};
  if (!how.starts_with("arg")) sizes.insert(sizes.begin(), 0);
  expectSame(reductionOf(how, kind, "N", term) + mainOf(kind, sizes, true), what);
  for (int64_t n : {33, 8193})
    expectSame(reductionOf(how, kind, std::to_string(n), term) + mainOf(kind, {n}, false),
               what + " of " + std::to_string(n));
}

TEST(SameBits, Reductions) {
  for (TypeKind kind : {TypeKind::F32, TypeKind::F64, TypeKind::F16, TypeKind::I32, TypeKind::I64}) {
    for (const char* how : {"sum", "prod", "min", "max", "argmin", "argmax"}) expectReduction(how, kind);
    if (!types::isFloatKind(kind)) continue;
    for (const char* how : {"sum chain", "sum lanes(32, j)", "sum lanes(64, j)", "prod lanes(32, j)"})
      expectReduction(how, kind);
    for (const char* how : {"sum fused", "sum chain fused", "sum lanes(32, j) fused"})
      expectReduction(how, kind, "    %p = mul %v, %v : " + name(kind) + "\n    yield %p\n");
  }
}

/// Two axes of sizes that are not known when compiling; all that is kept is folded into one number.
std::string reduceMatrix(const std::string& keep, const std::string& how, int64_t rows, int64_t columns) {
  std::string dims = std::to_string(rows) + ", " + std::to_string(columns);
  std::string kept = keep == "" ? "f32" : keep == "a" ? "f32[A]" : keep == "b" ? "f32[B]" : "f32[B, A]";
  std::string text = "fn reduce [A, B] (%x: f32[A, B]) -> (" + kept +
                     ") {\n  %r = nest (%a: A, %b: B) -> keep[" + keep + "] " + how +
                     " {\n    %v = get %x[%a, %b] : f32\n    yield %v\n  } : " + kept + "\n  yield %r\n}\n";
  text += "fn main () -> (i64) {\n  %x = nest (%i: " + std::to_string(rows) +
          ", %j: " + std::to_string(columns) +
          ") -> collect[i, j] {\n    %k = const 7919 : i64\n    %m = const 1009 : i64\n    %p = mul %i, %k : "
          "i64\n" +
          "    %q = add %p, %j : i64\n    %b = irem %q, %m : i64\n    %f = convert saturate %b : f32\n" +
          "    %d = const 37.3 : f32\n    %e = div %f, %d : f32\n    yield %e\n  } : f32[" + dims + "]\n";
  std::string size = keep == ""    ? ""
                     : keep == "a" ? std::to_string(rows)
                     : keep == "b" ? std::to_string(columns)
                                   : std::to_string(columns) + ", " + std::to_string(rows);
  std::string type = size.empty() ? "f32" : "f32[" + size + "]";
  text += "  %r = call @reduce %x dims [" + dims + "] : " + type + "\n";
  if (keep == "") {
    text += "  %h = bitcast %r : u32\n  %w = convert wrap %h : i64\n";
  } else {
    bool both = keep == "b, a";
    std::string second = both ? ", %l: " + std::to_string(rows) : "", index = both ? "%k2, %l" : "%k2";
    text += "  %w = nest (%k2: " + (keep == "a" ? std::to_string(rows) : std::to_string(columns)) + second +
            ") -> keep[] combine 1 region 1 units (%zero) {\n    %v = get %r[" + index +
            "] : f32\n    %h = bitcast %v : u32\n    %y = convert wrap %h : i64\n    yield %y\n  } { (%s: "
            "i64, %t: i64)\n" +
            "    %prime = const 1099511628211 : i64\n    %s1 = mul %s, %prime : i64\n    %s2 = add %s1, %t : "
            "i64\n" +
            "    yield %s2\n  } : i64\n";
    text.insert(text.find("  %r = call"), "  %zero = const 0 : i64\n");
  }
  return text + "  yield %w\n}\n";
}

/// Whether lanes are asked for along a kept axis.
bool isKept(const std::string& keep, const std::string& how) {
  const size_t comma = how.find(", ");
  return comma != std::string::npos && keep.find(how[comma + 2]) != std::string::npos;
}

TEST(SameBits, ReductionsOfMatrices) {
  for (const char* keep : {"", "a", "b", "b, a"})
    for (const char* how : {"sum", "sum chain", "sum lanes(64, a)", "prod lanes(64, b)", "max"})
      for (auto [rows, columns] :
           {std::pair<int64_t, int64_t>{3, 9000}, {9000, 2}, {100, 100}, {1, 1}, {0, 4}, {4, 0}})
        if (!isKept(keep, how))
          expectSame(reduceMatrix(keep, how, rows, columns), std::string(how) + " keeping [" + keep +
                                                                 "] of " + std::to_string(rows) + " x " +
                                                                 std::to_string(columns));
}

/// What blocks leave is remembered for 1,024 of them: sums and positions go on from window to window.
TEST(SameBits, ReductionsOfSeveralWindows) {
  constexpr int64_t blocks = 1024, terms = 8192;
  expectSame(reduceMatrix("", "sum lanes(64, b)", blocks + 3, terms - 1), "a sum of two windows");
  constexpr int64_t size = (blocks + 1) * terms + 5;
  expectSame(reductionOf("argmax", TypeKind::F32, std::to_string(size), "    yield %v\n") +
                 mainOf(TypeKind::F32, {size}, false),
             "a position in two windows");
}

} // namespace
} // namespace melix::jit
