// The text of Loops: what is written reads back, what is wrong is named with its place, and nothing crashes.
#include "loops/loops_text.h"

#include <random>

namespace melix::loops {
namespace {

using Text = LoopsText;

std::string errorOf(std::string_view text) { return Text(text).read.error; }

/// A statement of each attribute, with all its parts.
constexpr std::string_view everything = R"text(struct P { a: f64, b: str }
enum T { L(f64), N(T, T) }

fn @main#0(%n: i64, own %x: data, dest %to: address) -> data, i64 exported of main entry {
  %0 = const 1 : i64
  %1 = const -0.5 : f64
  %2 = const 0x7ff8000000000001 : f64
  %3 = const true : bool
  %4 = const 0 : data
  %5 = text "a \"b\"\n\x01" : data
  %6 = descriptor List[P] : address
  %7 = scratch 16 : address
  %8 = frame f64 bytes 72 : data
  %9 = alloc f64 zeroed %n, %0 : data
  %10 = alloc P[] bytes 24 %n : data
  %11 = alloc_node T bytes 24 : word
  %v = load %x[%n*%0 + %0*%n] at 8 : f64
  %w = load %x[%n*%0] by 24 transfer : data
  store %x[%n*%0] at -8 = %v
  store %7 by 8 borrowed = %3
  %12 = address_of %x[%n*%0] by 24 : address
  %13 = cmp lt %v, %1 : bool
  %14 = convert wrap %n : i32
  %15 = math exp %v : f64
  check "{0} is too large" %13, %n
  runtime list_reserve f64 %7, %n
  %16, %17 = format P "{}" quoted %7, %n : data, i64
  builtin print %7, %7
  call @other
  %i$1 = switch [0, 1, 0] %n : i64 {
    yield %0
  } {
    yield %n
  }
  for parallel %0, %n {
    (%k)
    yield
  }
  for parallel grid %0, %n {
    (%k$2)
    yield
  }
  for independent %0, %n { (%p)
    yield
  }
  %18, %19 = for polls %0, %n, %9, %0 : data, i64 {
    (%k$1, %d, %e)
    yield %d, %k$1
  }
  %20 = while %n : i64 {
    (%m)
    yield %13
  } {
    (%m$1)
    yield %m$1
  }
  %21 = runtime device_ready i64 %0 : bool
  yield %18, %20
}

fn @other() closed inlined named "a name" {
  yield
}

fn @block() on gpu {
  yield
}

device @block.loop0(%first: i64, %last: i64) on gpu {
  yield
}

kernel @"bwd 01 of f (f64)"(%first: i64, %last: i64) unrolled 64 {
  yield
}
)text";

TEST(LoopsText, EveryAttributeReadsBack) {
  Text text(everything);
  ASSERT_EQ(text.read.error, "");
  const std::string printed = print(text.read.module);
  EXPECT_EQ(print(Text(printed).read.module), printed);
  for (std::string_view part :
       {"%5 = text \"a \\\"b\\\"\\n\\x01\" : data", "%2 = const 0x7ff8000000000001 : f64",
        "%w = load %x[%n*%0] by 24 transfer : data", "store %x[%n*%0] at -8 = %v",
        "store %7 by 8 borrowed = %3", "%8 = frame f64 bytes 72 : data", "alloc_node T bytes 24",
        "for parallel %0, %n", "for parallel grid %0, %n", "= runtime device_ready i64 %0 : bool",
        "fn @block() on gpu {", "device @block.loop0(%first: i64, %last: i64) on gpu {",
        "%18, %19 = for polls %0, %n, %9, %0 : data, i64", "[0, 1, 0] %n", "dest %to: address",
        "-> data, i64 exported of main entry {", "closed inlined named \"a name\" {",
        "kernel @\"bwd 01 of f (f64)\"(", ") unrolled 64 {"})
    EXPECT_NE(printed.find(part), std::string::npos) << part << "\n" << printed;
}

TEST(LoopsText, WhatIsReadIsTheSame) {
  Text text(everything);
  ASSERT_EQ(text.read.error, "");
  const Function& fn = text.read.module.functions[text.read.module.entry];
  EXPECT_EQ(fn.name, "main");
  EXPECT_EQ(fn.modes, (std::vector{ModeKind::Borrow, ModeKind::Own, ModeKind::Dest}));
  std::vector<Access> accesses;
  for (const Stmt& s : fn.stmts)
    if (std::holds_alternative<Access>(s.attr)) accesses.push_back(s.as<Access>());
  const ValueType f64 = scalarType(TypeKind::F64);
  EXPECT_EQ(accesses, (std::vector<Access>{{f64, 8, 8},
                                           {dataType, 24, 0, true},
                                           {f64, 8, -8},
                                           {scalarType(TypeKind::Bool), 8, 0, false, true},
                                           {addressType, 24, 0}}));
}

TEST(LoopsText, ErrorsNameTheirPlace) {
  auto in = [](const std::string& body) {
    return errorOf("fn @f(%n: i64) -> i64 {\n  " + body + "\n  yield %n\n}\n");
  };
  EXPECT_EQ(in("frob %n"), "line 2, column 3: no statement `frob`");
  EXPECT_EQ(in("retain %m"), "line 2, column 10: no value %m");
  EXPECT_EQ(in("call @g %n"), "line 2, column 8: no function @g");
  EXPECT_EQ(in("%a = const 1 : i63"), "line 2, column 18: no type `i63` of a value");
  EXPECT_EQ(in("%a = cmp near %n, %n : bool"), "line 2, column 12: `near` is not known here");
  EXPECT_EQ(in("%a = load : f64"), "line 2, column 13: a value expected, not `:`");
  EXPECT_EQ(in("copy %n, %n"), "line 2, column 3: `copy` of 2 operands and 0 results");
  EXPECT_EQ(in("%a, %b = add %n, %n : i64"), "line 2, column 3: as many types as results expected");
  EXPECT_EQ(in("for %n, %n {\n  yield }"), "line 3, column 3: 1 parameters expected");
  EXPECT_EQ(errorOf("fn @f(%n: i64) {\n"), "line 2, column 1: a word expected, not the end of the text");
  EXPECT_EQ(errorOf("fn @f() {\n yield\n}\nfn @f() {\n yield\n}\n"), "line 4, column 4: @f is made twice");
}

TEST(LoopsText, WhatIsReadIsVerified) {
  EXPECT_EQ(errorOf("fn @f(%n: i64) -> i64 {\n  yield\n}\n"), "f: a yield of 0 values\n");
  EXPECT_EQ(errorOf("fn @f(%c: bool, %n: i64) {\n  if %c {\n    yield\n  }\n  yield\n}\n"),
            "f: `if` of 1 regions\n");
  EXPECT_EQ(errorOf("fn @f(%n: i64) {\n  call @g %n\n  yield\n}\nfn @g() {\n  yield\n}\n"),
            "f: a call that does not fit @g\n");
  EXPECT_EQ(errorOf("fn @f(%n: i64) -> i64 {\n  for %n, %n {\n    (%i)\n    yield\n  }\n  yield %i\n}\n"),
            "f: %i is not in scope in `yield`\n");
}

/// Of elements the block may have no header.
TEST(LoopsText, ElementsAreABlockOrAnAddressAndOnlyRead) {
  const std::string first = "fn @first(elements %x: data) -> f64 {\n  %r = load %x : f64\n  yield %r\n}\n";
  EXPECT_EQ(errorOf(first + "fn @f(elements %x: data, %i: i64) -> f64 {\n"
                            "  %p = address_of %x[%i*%i] : address\n  %r = call @first %p : f64\n"
                            "  %s = call @first %x : f64\n  keep_alive %x\n  yield %s\n}\n"),
            "");
  EXPECT_EQ(errorOf(first + "fn @f(%w: word) -> f64 {\n  %r = call @first %w : f64\n  yield %r\n}\n"),
            "f: a call that does not fit @first\n");
  EXPECT_EQ(errorOf("fn @f(elements %x: data, %v: f64) {\n  store %x = %v\n  retain %x\n  yield\n}\n"),
            "f: %x is only read, and changed by `store`\nf: %x is only read, and held by `retain`\n");
}

/// Texts with characters taken out, doubled and exchanged: each is read, or refused, and what is read prints.
TEST(LoopsText, BrokenTextIsRefused) {
  std::mt19937 random(7);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(everything);
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      const size_t at = below(text.size()), length = 1 + below(12);
      const std::string other = text.substr(below(text.size()), length);
      if (below(3) == 0)
        text.erase(at, length);
      else
        text.replace(at, below(2) * length, other);
    }
    Text broken(text);
    refused += !broken.read.error.empty();
    if (broken.read.error.empty()) EXPECT_EQ(errorOf(print(broken.read.module)), "");
  }
  EXPECT_GT(refused, 1000u);
}

TEST(LoopsText, DeepTextIsRefused) {
  std::string types = "fn @f() {\n  %d = descriptor ", blocks = "fn @f(%n: i64) {\n";
  for (int k = 0; k < 100'000; ++k) {
    types += "List[";
    blocks += "for %n, %n { (%" + std::to_string(k) + ")\n";
  }
  EXPECT_NE(errorOf(types).find("inside of each other"), std::string::npos);
  EXPECT_NE(errorOf(blocks).find("inside of each other"), std::string::npos);
}

} // namespace
} // namespace melix::loops
