// Values in a module with flat records: arrays of records and flat enums are held by their parts, and come
// and go as they are written.
#include "interp/run_text.h"

namespace melix::interp {
namespace {

constexpr const char* structs = R"(records flat
struct P { at: f32[2], k: i64 }
struct Q { p: P, xs: P[][2] }
struct Unit { }
enum Choice { None(), Many(P[][2], i64) }
enum Chain { End(), Link(P[][2], Chain) }

)";

std::string withStructs(std::string_view functions) { return std::string(structs) + std::string(functions); }

Value point(float x, int64_t k) {
  return Value::tuple({Value::floats(std::vector<float>{x, x + 1}), Value::integer(k)});
}
Value arrayOf(std::vector<Value> elements) {
  auto* out = new Array(objectKind, std::vector{static_cast<int64_t>(elements.size())});
  for (size_t k = 0; k < elements.size(); ++k) out->put(static_cast<int64_t>(k), elements[k].takeSlot());
  return Value::ofObject(out);
}
Value points(std::vector<int64_t> numbers) {
  std::vector<Value> out;
  for (int64_t k : numbers) out.push_back(point(static_cast<float>(k), k));
  return arrayOf(std::move(out));
}

struct Flat : Running {
  explicit Flat(std::string_view functions, Hooks hooks = {})
      : Running(withStructs(functions), std::move(hooks)) {}
  core::TypeId typeOfParam(size_t k) {
    const core::Function& f = module.functions[core::findFunction(module, "f")];
    return f.typeOf(f.params()[k]);
  }
  /// The value as the module holds it; it comes back as it was.
  Value inward(size_t param, const Value& plain) {
    Value own = program->forms().inward(typeOfParam(param), plain);
    EXPECT_TRUE(sameBits(program->forms().outward(typeOfParam(param), own), plain));
    return own;
  }
};

TEST(Forms, AnArrayOfRecordsIsTheArraysOfItsParts) {
  Flat m("fn f (%a: P[][3]) -> () keep {\n  yield\n}\n");
  const Value own = m.inward(0, points({1, 2, 3}));
  ASSERT_EQ(own.asRecord().parts.size(), 2u);
  EXPECT_EQ(floatsOf(own.part(0)), (std::vector<float>{1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(own.part(0).asArray().dims.size(), 2u);
  EXPECT_EQ(own.part(1).asArray().at(2).i, 3);
}

TEST(Forms, RecordsWithinArePartsToo) {
  Flat m("fn f (%a: Q[][2]) -> () keep {\n  yield\n}\n");
  auto q = [](int64_t k) { return Value::tuple({point(1, k), points({k, k + 1})}); };
  const Value own = m.inward(0, arrayOf({q(4), q(6)}));
  const Value numbers = own.part(1).part(1); // of xs
  EXPECT_EQ(numbers.asArray().dims.size(), 2u);
  EXPECT_EQ(numbers.asArray().at(3).i, 7);
  EXPECT_EQ(own.part(0).part(0).asArray().count, 4);
}

TEST(Forms, ElementsOfListsStayWhole) {
  Flat m("fn f (%a: List[Q], %b: Chain, %c: pack 1 P[][_]) -> () keep {\n  yield\n}\n");
  const Value list = m.inward(0, Value::list(objectKind, {Value::tuple({point(1, 2), points({3, 4})})}));
  EXPECT_EQ(list.part(0).part(0).part(1).asInteger(), 2);
  EXPECT_EQ(list.part(0).part(1).part(1).asArray().at(1).i, 4);
  const Value chain = m.inward(1, Value::variant(1, {points({5, 6}), Value::variant(0, {})}));
  EXPECT_EQ(chain.part(0).part(1).asArray().at(0).i, 5);
  const Value pack = m.inward(2, Value::tuple({Value::integer(1), points({8})}));
  EXPECT_EQ(pack.part(1).part(1).asArray().at(0).i, 8);
}

TEST(Forms, AFlatEnumIsItsTagAndSlots) {
  Flat m("fn f (%a: Choice, %b: Choice[][2]) -> () keep {\n  yield\n}\n");
  const Value some = Value::variant(1, {points({5, 6}), Value::integer(7)}), none = Value::variant(0, {});
  const Value own = m.inward(0, some);
  ASSERT_EQ(own.asRecord().parts.size(), 4u);
  EXPECT_EQ(own.part(0).slot().u, 1u);
  EXPECT_EQ(own.part(2).asArray().at(0).i, 5);
  EXPECT_EQ(own.part(3).asInteger(), 7);
  EXPECT_EQ(m.inward(0, none).part(0).slot().u, 0u);
  const Value all = m.inward(1, arrayOf({none, some}));
  EXPECT_EQ(all.part(0).asArray().at(1).u, 1u);
  EXPECT_EQ(all.part(2).asArray().dims.size(), 2u);
  EXPECT_EQ(all.part(3).asArray().at(1).i, 7);
}

TEST(Forms, WhatIsTheSameIsShared) {
  Flat m("fn f (%a: List[P], %b: Unit[][2], %c: (f32[2], i64)) -> () keep {\n  yield\n}\n");
  const Value list = Value::list(objectKind, {point(1, 2)});
  EXPECT_EQ(m.inward(0, list).slot().o, list.slot().o);
  const Value units = arrayOf({Value::tuple({}), Value::tuple({})});
  EXPECT_EQ(m.inward(1, units).slot().o, units.slot().o);
  const Value pair = point(1, 2);
  EXPECT_EQ(m.inward(2, pair).slot().o, pair.slot().o);
}

TEST(Forms, AnArrayWithoutElements) {
  Flat m("fn f [N] (%a: P[][N]) -> () keep {\n  yield\n}\n");
  const Value own = m.inward(0, arrayOf({}));
  EXPECT_EQ(own.part(0).asArray().count, 0);
  EXPECT_EQ(own.part(0).asArray().dims.size(), 2u);
}

/// Paths name the part first; arguments, results and what is shown are as they are written.
TEST(Forms, FunctionsWorkOnParts) {
  const int64_t before = liveObjects();
  {
    Hooks hooks;
    std::vector<Value> shown;
    hooks.format = [&](const types::TypeStore&, types::TypeId, const Value& v, const core::FormatAttr&,
                       std::span<const int64_t>) {
      shown.push_back(v);
      return std::string();
    };
    Flat m(R"(fn f (%a: P[][2], %i: i64) -> (P[][2], f32, List[P[][2]], P[][2]) keep {
  %at = get %a.0 : f32[2, 2]
  %k = get %a.1 : i64[2]
  %v = get %a.0[%i, %i] : f32
  %l = set %k[%i] = %i : i64[2]
  %b = make %at, %l : P[][2]
  %text = format "" %b : str
  %list = list %b, %a : List[P[][2]]
  %changed = set %list<%i>.0[%i, %i] = %v : List[P[][2]]
  %none = zero : P[][2]
  yield %b, %v, %changed, %none
}
)",
           hooks);
    const std::vector<Value> out = m.run({points({3, 4}), Value::integer(1)});
    const Value expected = arrayOf({point(3, 3), point(4, 1)});
    EXPECT_TRUE(sameBits(out[0], expected));
    ASSERT_EQ(shown.size(), 1u);
    EXPECT_TRUE(sameBits(shown[0], expected));
    EXPECT_EQ(out[1].asF32(), 5);
    EXPECT_TRUE(sameBits(out[2], Value::list(objectKind, {expected, points({3, 4})})));
    const Value zero = Value::tuple({Value::floats(std::vector<float>{0, 0}), Value::integer(0)});
    EXPECT_TRUE(sameBits(out[3], arrayOf({zero, zero})));
  }
  EXPECT_EQ(liveObjects(), before);
}

/// The order of a path says how arrays of records are held.
TEST(Forms, PathsFollowTheFormOfTheModule) {
  auto problems = [](const std::string& text) {
    Interner names;
    types::TypeStore types{names};
    core::Module module{types};
    EXPECT_EQ(core::parseModule(module, text), "");
    return core::verify(module).size();
  };
  const std::string flat =
      "fn f (%a: P[][2], %i: i64) -> (i64) keep {\n  %k = get %a.1[%i] : i64\n  yield %k\n}\n";
  const std::string plain =
      "fn f (%a: P[][2], %i: i64) -> (i64) keep {\n  %k = get %a[%i].1 : i64\n  yield %k\n}\n";
  const std::string notFlat = withStructs("").substr(std::string("records flat\n").size());
  EXPECT_EQ(problems(withStructs(flat)), 0u);
  EXPECT_EQ(problems(notFlat + plain), 0u);
  EXPECT_EQ(problems(withStructs(plain)), 1u);
  EXPECT_EQ(problems(notFlat + flat), 1u);
}

} // namespace
} // namespace melix::interp
