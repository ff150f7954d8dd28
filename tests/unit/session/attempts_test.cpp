// Attempts: a body is as it was before one that was dropped, whatever was checked in it.
#include "check/body/attempt.h"
#include "session/made_session.h"

#include <gtest/gtest.h>

namespace melix::check {
namespace {

/// The state of a body as text, as far as it has one.
class StateText {
public:
  explicit StateText(Body& body) : body_(body) {}

  std::string text() {
    nodes();
    names();
    frames();
    calls();
    Attempt attempt(body_); // only asks how many inference variables there are
    out_ << "\nvariables " << body_.types[body_.fresh(Span())].number;
    return out_.str();
  }

private:
  void line(std::string_view what) { out_ << "\n" << what; }
  template <class Ids>
  void ids(const Ids& all) {
    for (const auto& each : all) out_ << " " << each.index;
  }
  void type(TypeId type) {
    out_ << " " << (type ? body_.types.show(body_.infer.zonk(type)) : "none") << "#"
         << (type ? body_.infer.zonk(type).index : 0);
  }

  void nodes() {
    const Instance& instance = body_.instance;
    out_ << "failed " << instance.failed << " io " << instance.io.begin;
    for (const Node& node : instance.nodes) {
      line("node ");
      out_ << static_cast<int>(node.kind) << " " << node.span.begin << " " << node.payload.index();
      ids(node.children);
      ids(node.resultDims);
      type(node.type);
    }
    for (const Local& local : instance.locals) {
      line("local ");
      out_ << local.name.index << " " << local.isVar << local.isInout;
      type(local.type);
    }
    for (const Pattern& p : instance.patterns) {
      line("pattern ");
      out_ << static_cast<int>(p.kind) << " " << p.local.index << " " << p.caseIndex;
      ids(p.subs);
      type(p.type);
    }
  }

  void names() {
    line("scope");
    for (const ScopeEntry& e : body_.scope) out_ << " " << e.name.index << ":" << e.local.index;
    line("sizes");
    for (const auto& [name, dim] : std::map<NameId, DimId>(body_.env->dims.begin(), body_.env->dims.end()))
      out_ << " " << name.index << ":" << body_.infer.zonk(dim).index;
    line("used");
    ids(body_.used);
    line("captured");
    for (const auto& [local, span] : body_.captured) out_ << " " << local.index << ":" << span.begin;
    line("declared");
    ids(body_.declared);
    out_ << " open " << body_.openLocals.size() << " stands " << body_.b.standsFor.size() << " bound "
         << body_.b.boundTo.size() << " aliases " << body_.aliases.size() << " lets "
         << body_.scriptLets.size() << " equal " << body_.infer.equalHere.size();
  }

  void frames() {
    line("loops");
    for (const LoopFrame& frame : body_.loops)
      out_ << " " << frame.id << ":" << frame.broken << frame.breaks.size();
    out_ << " builders " << body_.builders.size() << " " << body_.builderDepth << " indices "
         << body_.headerIndices.size() << " uses " << body_.indexUses.size() << " conditions "
         << body_.conditions << " holds " << body_.holds.size() << " returned "
         << body_.returned->sizes.size();
    type(body_.returnType);
  }

  void calls() {
    out_ << "\npending " << body_.pending.size() << " follows " << body_.follows.size() << " given "
         << body_.given.size() << " inside " << body_.inside.size() << " quotients "
         << body_.b.arrayQuotients.size() << " literals " << body_.literalPatterns.size() << " transforms "
         << body_.wrapTransforms;
  }

  Body& body_;
  std::stringstream out_;
};

/// Each statement of a script is checked as an attempt, which is dropped, then for good, which gives the
/// names of those below. Statements whose line ends with `// wrong` have errors, and are only tried.
void expectUndone(const std::string& code) {
  const std::unique_ptr<session::Session> session = session::makeSession();
  const names::ModuleId root = session->load("test.mlx", code);
  ASSERT_EQ(session->sink.errorCount(), 0u);
  Checker& checker = session->checker();
  checker.checkModule(root);
  const InstanceId id = checker.instances.addInstance({});
  checker.instances.info(id).inProgress = true;
  Body body(checker, id, root, session->modules()[root].ast);
  body.isScript = true;
  for (syntax::NodeId statement : session->modules()[root].statements) {
    const Span span = body.ast.span(statement);
    const std::string text(session->sources.text(span));
    const std::string_view rest = std::string_view(code).substr(span.end);
    const bool isWrong = rest.substr(0, rest.find('\n')).find("// wrong") != std::string_view::npos;
    const std::string before = StateText(body).text();
    const size_t told = session->sink.all().size();
    for (int round = 0; round < 2; ++round) { // what failed is told again
      Attempt attempt(body);
      body.checkStatement(statement, false, TypeId::none());
      EXPECT_EQ(attempt.hasErrors(), isWrong) << text << ", round " << round;
      EXPECT_NE(StateText(body).text(), before) << text;
      attempt.drop();
      EXPECT_EQ(StateText(body).text(), before) << text;
      EXPECT_EQ(session->sink.all().size(), told) << text;
    }
    if (isWrong) continue;
    Attempt kept(body);
    body.checkStatement(statement, false, TypeId::none());
    body.noteLets(statement);
    const std::string after = StateText(body).text();
    kept.keep();
    EXPECT_EQ(StateText(body).text(), after) << text;
  }
}

TEST(Attempt, UndoesNamesSizesAndPatterns) {
  expectUndone(R"(
let xs: f32[?N] = [1.0, 2.0, 3.0]
let ys = zeros(N)
let (a, b) = (1, 2.5)
let Some(c) = Some(a) else { panic("none") }
let d: str = a // wrong
let e = match Some(3) { Some(3) | None => 1, Some(k) => k + a }
let f = match Some(3) { Some(g) => g, None => "no" } // wrong
var h: List[List[int]] = [[1, 2], [3]]
for &row in h { row.push(4) }
assert N == 3
missing(a) // wrong
)");
}

TEST(Attempt, UndoesCallsOfOverloadsAndTemplates) {

  expectUndone(R"(
fn extent(x: int) -> int { x }
fn extent(x: str) -> int { len(x) }
fn extent[T](x: List[T]) -> int { len(x) }
fn twice(x) { x + x }
fn add[T: Float](x: T[N], y: T[N]) -> T[N] { x + y }
let a = extent(1) + extent("a")
let b = extent(1.5) // wrong
let c = twice(2) + twice(a)
let d = twice(true) // wrong
let e = twice(Some(1)) // wrong
let f = add([1.0, 2.0], [3.0, 4.0])
let g = add([1.0, 2.0], [3.0]) // wrong
let h = max(f, sum(f))
)");
}

TEST(Attempt, UndoesFunctionsBuildersAndLoops) {
  expectUndone(R"(
let x = [1.0, 2.0, 3.0]
let y = [for i: x[i] * 2.0]
let z = [for i in 0..2: x[i + 1] - x[i]]
let w = sum(for i: x[i] * y[i])
let u = [for i: (grad(v => v * x[i]))(1.0)]
let t = [for i: x[i] + "a"] // wrong
var n = 0
while n < 3 { n += 1; if n == 2 { break } }
let found = loop { n += 1; if n > 9 { break n } }
let lost = loop { if n > 9 { break n } else { break "n" } } // wrong
let f = v => v * w
let g = f(2.0) + w
let s = n as f64 + (2.5 as f64)
let m = if n > 3 { x } else { y }
let k = if n > 3 { x } else { 1 } // wrong
n += "a" // wrong
)");
}

} // namespace
} // namespace melix::check
