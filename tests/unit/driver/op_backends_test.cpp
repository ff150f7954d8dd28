// Every op has Loops rules and source: the examples of all ops, which the interpreter defines
// (op_examples.cpp), are compiled, and are decompiled, read and checked again. All of them must print the
// same.
#include "core/text/parse.h"
#include "decompile/decompile.h"
#include "driver/builtins.h"
#include "interp/op_examples.h"
#include "jit/program.h"
#include "lower/lowered.h"
#include "transforms/calls/defunctionalise.h"
#include "transforms/derivatives/expand_derivatives.h"

#include <set>

namespace melix {
namespace {

using core::Builder;
using core::FunctionId;
using core::OpKind;
using core::ValueId;
using interp::OpExample;
using interp::Value;
using types::TypeId;
using types::TypeKind;

const char* const shared =
    "enum Option { None(), Some(f32) }\n\n"
    "fn minus (%a: f32, %b: f32) -> (f32) {\n  %c = sub %a, %b : f32\n  yield %c\n}\n\n";

using Examples = std::vector<const OpExample*>;

std::string nameOf(const OpExample& e) { return "f_" + std::string(ops::opText(e.kind)); }

/// The functions of some examples as one module.
std::string textOf(const Examples& examples) {
  std::string text = shared;
  for (const OpExample* e : examples)
    text += "fn " + nameOf(*e) + " " + e->signature + " {\n" + e->body + "\n}\n\n";
  return text;
}

/// A constant of a parameter's type, whose sizes are those of the value.
ValueId constant(Builder& b, TypeId type, const Value& v) {
  const types::Type t = b.types()[type];
  if (t.kind == TypeKind::Str) return b.text(v.asText());
  if (types::scalarBits(t.kind) > 0) return b.constant(type, v.slot().u);
  auto parts = [&](size_t count, auto typeOf) {
    std::vector<ValueId> out;
    for (size_t k = 0; k < count; ++k) out.push_back(constant(b, typeOf(k), v.part(k)));
    return out;
  };
  if (t.kind == TypeKind::Tuple) {
    std::vector<ValueId> made = parts(t.parts.size(), [&](size_t k) { return t.parts[k]; });
    std::vector<TypeId> own;
    for (ValueId part : made) own.push_back(b.typeOf(part));
    return b.make(b.types().tuple(own), std::move(made));
  }
  if (t.kind == TypeKind::Enum) {
    auto tag = static_cast<uint32_t>(v.asRecord().tag);
    return b.variant(type, tag, parts(v.asRecord().parts.size(), [&](uint32_t k) {
                       return b.types().fieldType(type, tag, k);
                     }));
  }
  if (t.kind == TypeKind::List)
    return b.one(
        Builder::simple(OpKind::ListOf, parts(v.asList().items.size(), [&](size_t) { return t.parts[0]; })),
        type);
  std::vector<ValueId> elements;
  for (int64_t k = 0; k < v.asArray().count; ++k)
    elements.push_back(b.constant(t.parts[0], v.asArray().at(k).u));
  std::vector<types::DimId> dims;
  const interp::Extents& extents = v.asArray().dims;
  for (size_t k = 0; k < extents.size(); ++k) dims.push_back(b.dims().constant(extents[k]));
  ValueId flat = b.one(Builder::simple(OpKind::ArrayOf, std::move(elements)),
                       b.types().array(t.parts[0], {b.dims().constant(v.asArray().count)}));
  if (dims.size() == 1) return flat;
  return b.one(Builder::simple(OpKind::Reshape, {flat}), b.types().array(t.parts[0], dims));
}

/// A function `main` that calls the examples and prints what they give, each on a line.
void addMain(core::Module& m, const Examples& examples) {
  core::Function made;
  made.name = made.key = "main";
  made.results = {m.types.int64()};
  made.body = made.regions.add(core::Region{});
  made.keep = true;
  m.entry = m.functions.add(std::move(made));
  Builder b(m, m.entry, m.functions[m.entry].body, m.locs.add(core::Loc{}));
  for (const OpExample* e : examples) {
    FunctionId callee = core::findFunction(m, nameOf(*e));
    std::vector<ValueId> args;
    for (size_t k = 0; k < e->args.size(); ++k)
      args.push_back(constant(b, m.functions[callee].typeOf(m.functions[callee].params()[k]), e->args[k]));
    std::vector<types::DimId> dims;
    for (int64_t d : interp::dimsOfArguments(m, callee, e->args)) dims.push_back(m.types.dims.constant(d));
    core::OpId called = b.call(callee, std::move(args), std::move(dims));
    std::vector<ValueId> line{b.text(std::string(ops::opText(e->kind)))};
    for (ValueId r : core::Results(b.fn().ops[called].results))
      line.push_back(b.one(Builder::simple(OpKind::Format, {r}, core::FormatAttr{}), m.types.str()));
    b.append(Builder::simple(OpKind::Builtin, std::move(line), core::BuiltinAttr{ops::BuiltinKind::Print}),
             {});
  }
  b.yield({b.integer(0)});
}

/// What remains are the ops that run.
void expandAll(core::Module& m) {
  transforms::defunctionalise(m);
  EXPECT_TRUE(transforms::expandDerivatives(m).problems.empty());
  for (const std::string& problem : core::verify(m)) ADD_FAILURE() << problem;
}

struct Printed {
  bool panicked = false;
  std::string text;
};

/// The oracle.
Printed interpreted(core::Module& m) {
  Printed out;
  driver::HostBuiltins host(m.types, 0, nullptr);
  melix_set_writer(
      [](void* to, int32_t, const uint8_t* data, int64_t length) {
        static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data),
                                              static_cast<size_t>(length));
      },
      &out.text);
  interp::Hooks hooks = host.hooks();
  hooks.debug = [&](const types::TypeStore&, TypeId type, const Value& v) {
    host.flush();
    out.text += host.show(type, v, core::FormatAttr{}) + "\n";
  };
  // Any function will do: the modules lack the library's, and so does the source made of them.
  hooks.math = [](ops::MathKind, TypeKind, double x, double) { return std::optional(x + 1); };
  interp::Program program(m, std::move(hooks));
  interp::RunResult result = program.run(m.entry, {});
  host.flush();
  melix_set_writer(nullptr, nullptr);
  out.panicked = result.panicked;
  if (result.panicked) out.text = result.panic.message;
  return out;
}

/// Examples that end, without the ops of `exempt`.
Examples endingExamples(const std::set<OpKind>& exempt) {
  Examples out;
  for (const OpExample& e : interp::opExamples())
    if (e.kind != OpKind::Check && e.kind != OpKind::Panic && !exempt.contains(e.kind)) out.push_back(&e);
  return out;
}

} // namespace

TEST(OpBackends, CompiledCodeAgreesWithTheInterpreter) {
  const std::set<OpKind> exempt{
      OpKind::Known,   // a function is not printed; the example of `capture` makes one
      OpKind::Math,    // its body is the library's: elementary_functions_test.cpp
      OpKind::Builtin, // the clock; every builtin is a call of the same C function
  };
  std::vector<Examples> programs{endingExamples(exempt)};
  for (const OpExample& e : interp::opExamples())
    if (e.kind == OpKind::Check || e.kind == OpKind::Panic) programs.push_back({&e});
  for (const Examples& examples : programs) {
    jit::Program program(textOf(examples));
    ASSERT_EQ(program.error, "");
    addMain(program.core, examples);
    expandAll(program.core);
    Printed oracle = interpreted(program.core);
    jit::Outcome outcome = program.run();
    ASSERT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.stats.liveBlocks, 0);
    EXPECT_EQ(outcome.status, oracle.panicked ? MELIX_PANIC : MELIX_OK) << outcome.panic;
    if (oracle.panicked)
      EXPECT_NE(outcome.panic.find(oracle.text), std::string::npos) << outcome.panic;
    else
      EXPECT_EQ(outcome.output, oracle.text);
  }
}

TEST(OpBackends, SourceReadsBack) {
  const std::set<OpKind> exempt{
      OpKind::Known,   // source has tuples for functions, which print as such
      OpKind::Builtin, // the clock
      OpKind::Holds,   // made after derivatives
  };
  Examples examples = endingExamples(exempt);
  jit::Program program(textOf(examples));
  ASSERT_EQ(program.error, "");
  addMain(program.core, examples);
  expandAll(program.core);
  decompile::Source source = decompile::decompile(program.core, program.core.entry);
  for (const std::string& note : source.notes) ADD_FAILURE() << "no spelling: " << note;
  lower::Lowered again(source.text);
  ASSERT_FALSE(::testing::Test::HasFailure()) << source.text;
  Printed read = interpreted(again.session.module()), oracle = interpreted(program.core);
  EXPECT_FALSE(oracle.panicked) << oracle.text;
  EXPECT_EQ(read.text, oracle.text) << source.text;
}

} // namespace melix
