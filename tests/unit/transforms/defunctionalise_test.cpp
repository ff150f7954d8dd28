// Function values become enums.
#include "transforms/calls/defunctionalise.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

TEST(Defunctionalise, ClosuresOfOneTypeShareAnEnum) {
  PassText m(R"(fn scale [M] (%w: f32[M], %x: f32[M]) -> (f32[M]) {
  %r = nest (%i: M) -> collect[i] {
    %a = get %w[%i] : f32
    %b = get %x[%i] : f32
    %c = mul %a, %b : f32
    yield %c
  } : f32[M]
  yield %r
}

fn shift [M] (%s: f32, %x: f32[M]) -> (f32[M]) {
  %r = nest (%i: M) -> collect[i] {
    %b = get %x[%i] : f32
    %c = add %b, %s : f32
    yield %c
  } : f32[M]
  yield %r
}

fn f [N] (%x: f32[N], %k: bool, %s: f32) -> (f32[N]) {
  %g = if %k {
    %a = closure @scale %x dims [N] : fn(f32[N]) -> f32[N]
    yield %a
  } {
    %b = closure @shift %s dims [N] : fn(f32[N]) -> f32[N]
    yield %b
  } : fn(f32[N]) -> f32[N]
  %h = make %g, %s : (fn(f32[N]) -> f32[N], f32)
  %g2 = get %h.0 : fn(f32[N]) -> f32[N]
  %y = apply %g2, %x : f32[N]
  yield %y
}
)");
  m.expectVerified();
  defunctionalise(m.module);
  for (const std::string& p : core::verify(m.module, {core::State::FunctionsKnown}))
    ADD_FAILURE() << p << m.text();
  EXPECT_EQ(m.text().find("fn("), std::string::npos) << m.text();
  auto result = [&](bool k) {
    interp::RunResult r = m.run({Value::floats(std::vector<float>{2, 3}), Value::boolean(k), Value::f32(10)});
    EXPECT_FALSE(r.panicked) << r.panic.message;
    return std::vector<float>(r.values[0].asFloats().begin(), r.values[0].asFloats().end());
  };
  EXPECT_EQ(result(true), (std::vector<float>{4, 9}));
  EXPECT_EQ(result(false), (std::vector<float>{12, 13}));
}

} // namespace
} // namespace melix::transforms
