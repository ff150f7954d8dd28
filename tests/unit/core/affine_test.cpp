// Affine forms of indices and sizes, and comparisons of them.
#include "core/analysis/affine.h"

#include "core/analysis/predicate.h"
#include "core/core_text.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"

namespace melix::core {
namespace {

/// A body over the axes %i and %j and the parameters %n and %m, whose last op but the end is asked about.
struct Body {
  TextModule text;
  FunctionId f;
  std::vector<ValueId> axes;
  ValueId last;

  explicit Body(const std::string& ops, const std::string& type)
      : text("fn f [N, M] (%n: i64, %m: i64, %x: f32[N, M]) -> (" + type +
             "[N, M]) {\n  %r = nest (%i: N, %j: M) -> collect[i, j] {\n" + ops +
             "    yield %v\n  } : " + type + "[N, M]\n  yield %r\n}\n"),
        f(text.function("f")) {
    forEachOp(fn(), [&](OpId id) {
      if (fn().ops[id].kind != OpKind::Nest) return;
      const NestView nest(fn(), fn().ops[id]);
      axes.assign(nest.axisParams().begin(), nest.axisParams().end());
      last = nest.yields()[0];
    });
  }
  const Function& fn() const { return text.module.functions[f]; }
  types::DimStore& dims() const { return text.module.types.dims; }
  bool isAxis(ValueId v) const { return std::ranges::find(axes, v) != axes.end(); }
  bool isParameter(ValueId v) const { return fn().values[v].region == fn().body; }

  std::optional<AffineForm> form() const {
    return affineForm(dims(), fn(), last,
                      {[&](ValueId v) { return isAxis(v); }, [&](ValueId v) { return isParameter(v); }});
  }
  std::optional<AffinePredicate> predicate() const {
    return predicateOfAxes(text.module, fn(), KnownSizes(fn()), fn().regions[fn().body].ops[0], last,
                           [&](ValueId v) { return isAxis(v); });
  }
};

Body number(const std::string& ops) { return Body(ops, "i64"); }
std::optional<AffinePredicate> predicate(const std::string& ops) { return Body(ops, "bool").predicate(); }

TEST(Affine, SumsDifferencesAndMultiples) {
  const Body b = number("    %c = const 4 : i64\n    %a = mul %i, %c : i64\n    %s = sub %a, %n : i64\n"
                        "    %d = dim_value dims [M] : i64\n    %e = sub %s, %d : i64\n"
                        "    %k = const 3 : i64\n    %v = add %e, %k : i64\n");
  const std::optional<AffineForm> form = b.form();
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->axes, (LinearTerms<ValueId>{{b.axes[0], 4}}));
  EXPECT_EQ(form->outside.size(), 1u);
  EXPECT_EQ(form->outside.begin()->second, -1);
  EXPECT_EQ(form->dims.begin()->second, -1);
  EXPECT_EQ(form->constant, 3);
}

TEST(Affine, ProductsOfTermsHaveNone) {
  EXPECT_FALSE(number("    %v = mul %i, %j : i64\n").form().has_value());
  EXPECT_EQ(number("    %a = add %i, %j : i64\n    %v = sub %a, %j : i64\n").form(),
            AffineForm::ofAxis(number("    %v = add %i, %j : i64\n").axes[0]));
}

TEST(Affine, ExtremesOverAxes) {
  const Body b = number("    %v = sub %i, %j : i64\n");
  const DimId eight = b.dims().constant(8);
  auto extentOf = [&](ValueId) { return eight; };
  EXPECT_EQ(extremeOf(b.dims(), *b.form(), true, extentOf), b.dims().constant(7));
  EXPECT_EQ(extremeOf(b.dims(), *b.form(), false, extentOf), b.dims().constant(-7));
  EXPECT_FALSE(extremeOf(b.dims(), *b.form(), true, [](ValueId) { return DimId(); }).valid());
}

TEST(Affine, SizesWithFormsInPlaceOfSymbols) {
  const Body b = number("    %v = dim_value dims [2*N + M - 3] : i64\n");
  const Op& op = b.fn().ops[b.fn().values[b.last].def];
  const AffineForm first = AffineForm::ofAxis(b.axes[0]);
  bool isFirst = true;
  const AffineForm form = affineForm(b.dims(), op.dims[0], [&](DimSym) {
    return std::exchange(isFirst, false) ? std::optional(first) : std::nullopt;
  });
  EXPECT_EQ(form.axes.size(), 1u);
  EXPECT_EQ(form.dims.size(), 1u);
  EXPECT_EQ(form.constant, -3);
  EXPECT_EQ(sizeOf(b.dims(), form), b.dims().sub(form.dims.begin()->first, b.dims().constant(3)));
}

TEST(Affine, ComparisonsHaveOneForm) {
  const auto less =
      predicate("    %o = const 1 : i64\n    %e = add %j, %o : i64\n    %v = cmp lt %i, %e : bool\n");
  ASSERT_TRUE(less.has_value());
  EXPECT_EQ(less, predicate("    %v = cmp le %i, %j : bool\n"));
  EXPECT_EQ(less, predicate("    %v = cmp ge %j, %i : bool\n"));
  EXPECT_EQ(less,
            predicate("    %d = sub %i, %j : i64\n    %z = const 0 : i64\n    %v = cmp le %d, %z : bool\n"));
  EXPECT_NE(less, predicate("    %v = cmp lt %i, %j : bool\n"));
  EXPECT_EQ(predicate("    %v = cmp eq %i, %j : bool\n"), predicate("    %v = cmp eq %j, %i : bool\n"));
  EXPECT_NE(predicate("    %v = cmp eq %i, %j : bool\n"), predicate("    %v = cmp ne %i, %j : bool\n"));
}

TEST(Affine, ConjunctionsHaveNoOrder) {
  const std::string sides =
      "    %a = cmp le %i, %j : bool\n    %t = const 2 : i64\n    %b = cmp ge %i, %t : bool\n";
  EXPECT_EQ(predicate(sides + "    %v = and %a, %b : bool\n"),
            predicate(sides + "    %v = and %b, %a : bool\n"));
  EXPECT_FALSE(predicate(sides + "    %v = or %a, %b : bool\n").has_value());
}

TEST(Affine, ComparisonsOfSumsThatWrapKeepTheirSides) {
  const std::string large = "    %l = const 9223372036854775807 : i64\n    %e = add %j, %l : i64\n";
  const auto wraps = predicate(large + "    %v = cmp lt %i, %e : bool\n");
  ASSERT_TRUE(wraps.has_value());
  EXPECT_FALSE(wraps->begin()->right == AffineForm());
  EXPECT_NE(wraps, predicate(large + "    %d = sub %i, %e : i64\n    %z = const 0 : i64\n"
                                     "    %v = cmp lt %d, %z : bool\n"));
}

} // namespace
} // namespace melix::core
