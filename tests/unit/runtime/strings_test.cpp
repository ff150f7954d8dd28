// The string builtins: byte positions, UTF-8, panics that tell the position.
#include "runtime_fixture.h"

namespace melix::test {
namespace {

class Strings : public RuntimeTest {
protected:
  void TearDown() override { EXPECT_EQ(live(), 0); }
  int64_t number(MelixBuiltinFn fn, const Slots& args) { return static_cast<int64_t>(call(fn, args)[0]); }
  std::string panicOf(MelixBuiltinFn fn, const Slots& args) {
    EXPECT_EQ(melix_call_builtin(task, fn, args.words.data(), results), MELIX_PANIC);
    return message();
  }
  std::string one(MelixBuiltinFn fn, const Slots& args) {
    call(fn, args);
    return takeText(0);
  }
  using List = std::vector<std::string>;
};

TEST_F(Strings, concatenate_and_compare) {
  auto owned = [&](const char* text) { // with a block of its own, as programs have texts
    call(melix_str_repeat, Slots().add(text).add(int64_t(1)));
    return MelixStr{reinterpret_cast<const uint8_t*>(results[0]), static_cast<int64_t>(results[1])};
  };
  MelixStr parts[] = {owned("ab"), str(""), owned("ç")};
  EXPECT_EQ(one(melix_str_concat, Slots().add(int64_t(3)).add(parts)), "abç");
  EXPECT_EQ(one(melix_str_concat, Slots().add(int64_t(0)).add(parts)), "");
  for (int k : {0, 2}) melix_release(task, const_cast<uint8_t*>(parts[k].data));
  EXPECT_EQ(number(melix_str_compare, Slots().add("abc").add("abd")), -1);
  EXPECT_EQ(number(melix_str_compare, Slots().add("abc").add("ab")), 1);
  EXPECT_EQ(number(melix_str_compare, Slots().add("").add("")), 0);
  EXPECT_EQ(number(melix_str_compare, Slots().add("z").add("é")), -1);
  EXPECT_EQ(number(melix_str_equal, Slots().add("a").add("a")), 1);
  EXPECT_EQ(number(melix_str_equal, Slots().add("a").add("b")), 0);
}

TEST_F(Strings, slices_and_chars) {
  EXPECT_EQ(one(melix_str_slice, Slots().add("häuser").add(int64_t(1)).add(int64_t(3))), "ä");
  EXPECT_EQ(one(melix_str_slice, Slots().add("abc").add(int64_t(3)).add(int64_t(3))), "");
  EXPECT_EQ(panicOf(melix_str_slice, Slots().add("häuser").add(int64_t(0)).add(int64_t(2))),
            "index 2 is inside a char");
  EXPECT_EQ(panicOf(melix_str_slice, Slots().add("abc").add(int64_t(2)).add(int64_t(4))),
            "slice 2..4 does not fit a string of 3 bytes");
  EXPECT_EQ(panicOf(melix_str_slice, Slots().add("abc").add(int64_t(2)).add(int64_t(1))),
            "slice 2..1 does not fit a string of 3 bytes");
  EXPECT_EQ(number(melix_str_char_at, Slots().add("hä").add(int64_t(1))), 0xe4);
  EXPECT_EQ(panicOf(melix_str_char_at, Slots().add("hä").add(int64_t(2))), "index 2 is inside a char");
  EXPECT_EQ(panicOf(melix_str_char_at, Slots().add("hä").add(int64_t(3))),
            "index 3 is out of range for a string of 3 bytes");
  EXPECT_EQ(panicOf(melix_str_char_at, Slots().add("hä").add(int64_t(-1))),
            "index -1 is out of range for a string of 3 bytes");
  EXPECT_EQ(number(melix_str_get, Slots().add("hä").add(int64_t(2))), 0);
  EXPECT_EQ(one(melix_str_from_char, Slots().add(int64_t(0x1f600))), "😀");
}

TEST_F(Strings, walking_gives_the_chars) {
  std::string_view s = "aé€😀";
  std::vector<uint32_t> chars;
  for (int64_t at = 0;;) {
    call(melix_str_next, Slots().add(s).add(at));
    if (!results[0]) break;
    chars.push_back(static_cast<uint32_t>(results[1]));
    at = static_cast<int64_t>(results[2]);
  }
  EXPECT_EQ(chars, (std::vector<uint32_t>{'a', 0xe9, 0x20ac, 0x1f600}));
}

TEST_F(Strings, bytes_and_back) {
  call(melix_str_bytes, Slots().add("é!"));
  EXPECT_EQ(results[1], 3u);
  EXPECT_EQ(takeText(0), "é!");
  call(melix_str_from_bytes, Slots().add("ok"));
  EXPECT_EQ(results[0], 1u);
  EXPECT_EQ(takeText(1), "ok");
  for (std::string_view bad :
       {"ab\xff", "ab\xc3", "ab\xe0\x80\x80", "ab\xed\xa0\x80", "ab\xf5\x80\x80\x80", "ab\xc0\x80"}) {
    call(melix_str_from_bytes, Slots().add(bad));
    EXPECT_EQ(results[0], 0u);
    EXPECT_EQ(takeText(3), "byte 2 is not UTF-8");
  }
}

TEST_F(Strings, search) {
  EXPECT_EQ(number(melix_str_find, Slots().add("banana").add("an").add(int64_t(0))), 1);
  EXPECT_EQ(number(melix_str_find, Slots().add("banana").add("an").add(int64_t(2))), 3);
  EXPECT_EQ(number(melix_str_find, Slots().add("banana").add("nab").add(int64_t(0))), -1);
  EXPECT_EQ(number(melix_str_find, Slots().add("").add("a").add(int64_t(0))), -1);
  EXPECT_EQ(number(melix_str_find, Slots().add("ab").add("").add(int64_t(1))), 1);
  EXPECT_EQ(number(melix_str_find_last, Slots().add("banana").add("an")), 3);
  EXPECT_EQ(number(melix_str_find_last, Slots().add("banana").add("x")), -1);
  EXPECT_EQ(number(melix_str_contains, Slots().add("banana").add("nan")), 1);
  EXPECT_EQ(number(melix_str_starts_with, Slots().add("banana").add("ba")), 1);
  EXPECT_EQ(number(melix_str_starts_with, Slots().add("b").add("ba")), 0);
  EXPECT_EQ(number(melix_str_ends_with, Slots().add("banana").add("na")), 1);
  EXPECT_EQ(number(melix_str_ends_with, Slots().add("a").add("na")), 0);
  EXPECT_EQ(one(melix_str_replace, Slots().add("aXbXX").add("X").add("--")), "a--b----");
  EXPECT_EQ(one(melix_str_replace, Slots().add("aaa").add("aa").add("b")), "ba");
  EXPECT_EQ(one(melix_str_replace, Slots().add("abc").add("").add("x")), "abc");
}

TEST_F(Strings, take_apart_and_join) {
  call(melix_str_split, Slots().add("a,b,,c,").add(","));
  EXPECT_EQ(takeList(0), (List{"a", "b", "", "c", ""}));
  call(melix_str_split, Slots().add("").add(","));
  EXPECT_EQ(takeList(0), (List{""}));
  EXPECT_EQ(panicOf(melix_str_split, Slots().add("a").add("")), "the separator of `split` is empty");
  call(melix_str_words, Slots().add("  two\t words\n"));
  EXPECT_EQ(takeList(0), (List{"two", "words"}));
  call(melix_str_lines, Slots().add("one\r\ntwo\n\nfour"));
  EXPECT_EQ(takeList(0), (List{"one", "two", "", "four"}));
  call(melix_str_lines, Slots().add("one\n"));
  EXPECT_EQ(takeList(0), (List{"one"}));
  call(melix_str_split, Slots().add("x-y-z").add("-"));
  void* list = reinterpret_cast<void*>(results[0]);
  EXPECT_EQ(one(melix_str_join, Slots().add(list).add(", ")), "x, y, z");
  melix_release(task, list);
  EXPECT_EQ(one(melix_str_join, Slots().add(static_cast<void*>(nullptr)).add(", ")), "");
}

TEST_F(Strings, trim_repeat_and_case) {
  EXPECT_EQ(one(melix_str_trim, Slots().add(" \t x y\n")), "x y");
  EXPECT_EQ(one(melix_str_trim, Slots().add("\xc2\xa0x\xe3\x80\x80")), "x");
  EXPECT_EQ(one(melix_str_trim, Slots().add("   ")), "");
  EXPECT_EQ(one(melix_str_trim_start, Slots().add("  x ")), "x ");
  EXPECT_EQ(one(melix_str_trim_end, Slots().add(" x  ")), " x");
  EXPECT_EQ(one(melix_str_repeat, Slots().add("ab").add(int64_t(3))), "ababab");
  EXPECT_EQ(one(melix_str_repeat, Slots().add("ab").add(int64_t(0))), "");
  EXPECT_EQ(panicOf(melix_str_repeat, Slots().add("ab").add(int64_t(-1))),
            "a string cannot be repeated -1 times");
  EXPECT_EQ(one(melix_str_upper, Slots().add("aé1")), "Aé1");
  EXPECT_EQ(one(melix_str_lower, Slots().add("AÉ1")), "aÉ1");
}

TEST_F(Strings, numbers_from_text) {
  auto parse = [&](std::string_view s) {
    call(melix_parse_int, Slots().add(s));
    return results[0] ? std::to_string(static_cast<int64_t>(results[1])) : "none";
  };
  EXPECT_EQ(parse("42"), "42");
  EXPECT_EQ(parse("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(parse("9223372036854775808"), "none");
  EXPECT_EQ(parse("0xff"), "255");
  EXPECT_EQ(parse("-0b101"), "-5");
  EXPECT_EQ(parse("0o17"), "15");
  EXPECT_EQ(parse("007"), "7");
  for (const char* bad : {"", " 1", "1 ", "1.0", "-", "0x", "1e3", "12a", "99999999999999999999"})
    EXPECT_EQ(parse(bad), "none") << bad;
  auto real = [&](std::string_view s) {
    call(melix_parse_f64, Slots().add(s));
    double x;
    std::memcpy(&x, &results[1], 8);
    return results[0] ? show(MELIX_KIND_F64, x) : "none";
  };
  EXPECT_EQ(real("1"), "1.0");
  EXPECT_EQ(real("-0"), "-0.0");
  EXPECT_EQ(real("1e-3"), "0.001");
  EXPECT_EQ(real(".5"), "0.5");
  EXPECT_EQ(real("5."), "5.0");
  EXPECT_EQ(real("123456789012345678901234567890"), "1.2345678901234568e29");
  EXPECT_EQ(real("-inf"), "-inf");
  EXPECT_EQ(real("NaN"), "nan");
  EXPECT_EQ(real("1e400"), "inf");
  for (const char* bad : {"", ".", "e5", "1e", "0x1p3", " 1", "1 ", "1,5", "in", "nan(1)"})
    EXPECT_EQ(real(bad), "none") << bad;
  // 1 + 2^-24 + 2^-60 as f32 must round once: through f64 it would become a tie and go down.
  call(melix_parse_f32, Slots().add("1.000000059604644775390625000867"));
  float single;
  std::memcpy(&single, &results[1], 4);
  EXPECT_EQ(single, 1.00000012f);
}

} // namespace
} // namespace melix::test
