// What a failed assertion tells, of every type there is and under derivatives, in every way to run it.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <fstream>

namespace melix::driver {
namespace {

/// A test block whose assertion fails, and what stands behind `assertion failed:` in its message.
struct Failing {
  const char *block, *told;
};

const Failing failing[] = {
    {"assert 1 + 1 == 3", "1 + 1 == 3\n  left:  2\n  right: 3\n"},
    {"let x = 0.5; assert x + 0.25 == 0.5", "x + 0.25 == 0.5\n  left:  0.75\n  right: 0.5\n"},
    {"assert (250 as u8) < (7 as u8)", "(250 as u8) < (7 as u8)\n  left:  250\n  right: 7\n"},
    {"assert (2 >= 3)", "(2 >= 3)\n  left:  2\n  right: 3\n"},
    {"assert true == (1 > 2)", "true == (1 > 2)\n  left:  true\n  right: false\n"},
    {"assert \"a\\n\" == \"b\"", "\"a\\n\" == \"b\"\n  left:  \"a\\n\"\n  right: \"b\"\n"},
    {"let c = '\\t'; assert c == 'b'", "c == 'b'\n  left:  '\\t'\n  right: 'b'\n"},
    {"assert P(1, \"a\") == P(2, \"a\")",
     "P(1, \"a\") == P(2, \"a\")\n  left:  P(x: 1.0, name: \"a\")\n  right: P(x: 2.0, name: \"a\")\n"},
    {"assert Circle(2) == Word(\"x\")",
     "Circle(2) == Word(\"x\")\n  left:  Circle(2.0)\n  right: Word(\"x\")\n"},
    {"assert (1, \"a\") == (1, \"b\")",
     "(1, \"a\") == (1, \"b\")\n  left:  (1, \"a\")\n  right: (1, \"b\")\n"},
    {"assert list([1, 2]) == list([1])", "list([1, 2]) == list([1])\n  left:  [1, 2]\n  right: [1]\n"},
    {"let o = Some(2); assert o == None", "o == None\n  left:  Some(2)\n  right: None\n"},
    {"assert all([for i in 0..3: i] == [0, 1, 3])",
     "all([for i in 0..3: i] == [0, 1, 3])\n  left:  [0, 1, 2]\n  right: [0, 1, 3]\n"},
    {"assert any([[1, 2], [3, 4]] > 4)",
     "any([[1, 2], [3, 4]] > 4)\n  left:\n[[1, 2],\n [3, 4]]\n  right: 4\n"},
    {"assert all([for i in 0..2000: i] < 9)",
     "all([for i in 0..2000: i] < 9)\n  left:  [0, 1, 2, …, 1997, 1998, 1999]\n  right: 9\n"},
    {"let k = 3; let f = (x: int) => { assert x > k; x }; print(f(2))", "x > k\n  left:  2\n  right: 3\n"},
    {"same(1, 2)", "a == b\n  left:  1\n  right: 2\n"},
    {"sized([1])", "N == 3\n  left:  1\n  right: 3\n"},
    {"print(grad((x: f64) => { assert x < 1; x * x })(2))", "x < 1\n  left:  2.0\n  right: 1\n"},
    {"print(jvp((x: f64) => { assert x < 1; x * x }, 2, 1))", "x < 1\n  left:  2.0\n  right: 1\n"},
    {"print(grad((x: f64[N]) => { assert all(x < 3); sum(x * x) })([1, 3]))",
     "all(x < 3)\n  left:  [1.0, 3.0]\n  right: 3\n"},
    {"assert 1 == 1 and 2 == 3", "1 == 1 and 2 == 3\n"},
};

} // namespace

TEST(Assertions, TellBothValuesOfAComparisonInEveryMode) {
  const std::string file = "/tmp/melix_assertions_" + std::to_string(getpid()) + ".mlx";
  std::ofstream out(file);
  out << "struct P { x: f64, name: str }\nenum Shape { Circle(f64), Word(str) }\n"
         "fn same[T: Eq](a: T, b: T) { assert a == b }\nfn sized(x: int[N]) { assert N == 3; print(x) }\n";
  for (const Failing& one : failing) out << "test \"it\" { " << one.block << " }\n";
  out.close();
  for (const char* mode : {"", "-O0 ", "--interpret "}) {
    harness::ProcessResult r = melix(std::string("test ") + mode + file);
    EXPECT_EQ(r.status, 1) << r.errors;
    size_t at = 0;
    for (const Failing& one : failing) {
      const size_t found = r.output.find(std::string("assertion failed: ") + one.told, at);
      EXPECT_NE(found, std::string::npos) << mode << one.told << "in\n" << r.output.substr(at);
      at = found == std::string::npos ? at : found + 1;
    }
  }
  unlink(file.c_str());
}

TEST(Assertions, AtThePromptTheyTellBothValuesToo) {
  harness::ProcessResult r =
      melix("repl", "let a = [1, 2]\nassert all(a == [1, 3])\nassert len(a) == 2\nlen(a)\n");
  EXPECT_NE((r.output + r.errors).find("all(a == [1, 3])\n  left:  [1, 2]\n  right: [1, 3]\n"),
            std::string::npos)
      << r.output << r.errors;
  EXPECT_NE(r.output.find("2\n"), std::string::npos) << r.output;
}

} // namespace melix::driver
