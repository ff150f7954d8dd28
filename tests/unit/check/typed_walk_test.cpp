// Every payload of the typed tree tells all that it is made of: children, places, sizes, names.
#include "check/tree/typed_walk.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace melix::check {
namespace {

NodeId n(uint32_t k) { return NodeId(k); }
LocalId l(uint32_t k) { return LocalId(k); }

/// What a node tells, in order: `child 1`, `size 2`, `place x3`.
struct Told : NodeParts<const Node> {
  std::vector<std::string> lines;
  void line(std::string_view what, uint32_t k) {
    lines.push_back(std::string(what) + " " + std::to_string(k));
  }
  void child(NodeId k) override { line("child", k.index); }
  void reads(LocalId k) override { line("reads", k.index); }
  void place(const Place& p) override { line("changes", p.root.index); }
  void size(const DimId& d) override { line("size", d.index); }
  void type(const TypeId& t) override { line("type", t.index); }
  void defines(LocalId k) override { line("defines", k.index); }
  void binds(PatternId k) override { line("binds", k.index); }
  void calls(const CallTarget& t) override { line("calls", t.instance.index); }
};

/// `x10[<11>..<12>]`, a slice of length 13 and type 14.
Place place() {
  Step step{StepKind::Slice, 0, n(11), n(12), DimId(13), 1, {}};
  return {l(10), {step}, TypeId(14)};
}

struct Sample {
  Payload payload;
  std::vector<std::string> told;
  size_t children = 2; ///< numbered from 0
};

std::vector<Sample> samples() {
  const std::vector<NestAxis> axes{{l(20), DimId(21), {}}};
  const CallTarget target{InstanceId(30), false, 0, {DimId(31)}, {{0, place()}}};
  std::vector<std::string> both{"child 0", "child 1"};
  auto then = [](std::vector<std::string> first, std::initializer_list<const char*> rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  const auto called =
      then(both, {"size 31", "child 11", "child 12", "calls 30", "size 13", "type 14", "changes 10"});
  return {
      {std::monostate(), both},
      {Const{}, {}, 0},
      {LocalRef{l(5)}, {"reads 5"}, 0},
      {Dim{DimId(5)}, {"size 5"}, 0},
      {Dims{{DimId(5), DimId(6)}}, {"child 0", "size 5", "size 6"}, 1},
      {Index{}, both},
      {KnownRef{}, both},
      {Steps{place().steps}, {"child 0", "child 11", "child 12", "size 13"}, 1},
      {place(), {"child 11", "child 12", "child 0", "size 13", "type 14", "changes 10"}, 1},
      {OpRef{}, both},
      {ConvertRef{}, {"child 0"}, 1},
      {Elementwise{{l(5)}}, then({"defines 5"}, {"child 0", "child 1"})},
      {DimChecks{{{DimId(5), DimId(6), "", {DimId(7)}, 0, false, {}}}, false},
       {"child 0", "size 5", "size 6", "size 7"},
       1},
      {Update{place(), l(5), l(6)},
       {"defines 5", "defines 6", "child 11", "child 12", "child 0", "child 1", "size 13", "type 14",
        "changes 10"}},
      {Scatter{axes}, {"size 21", "defines 20", "child 0"}, 1},
      {Within{place(), l(5)},
       {"defines 5", "child 11", "child 12", "child 0", "size 13", "type 14", "changes 10"},
       1},
      {Loop{}, both},
      {For{0, l(5)}, {"defines 5", "child 0", "child 1", "child 2"}, 3},
      {Nest{std::nullopt, axes, true, {}, {}}, {"size 21", "defines 20", "child 1", "child 0"}},
      {target, called},
      {BuiltinRef{}, both},
      {FormatSpec{}, {"child 0"}, 1},
      {DerivativeRef{DerivativeMode::Jvp, target, {}, {}}, called},
      {Arms{{{PatternId(5), n(6), n(7)}, {PatternId(8), {}, n(9)}}, {place()}},
       {"child 0", "child 11", "child 12", "binds 5", "child 6", "child 7", "binds 8", "child 9", "size 13",
        "type 14", "changes 10"},
       1},
      {PatternRef{PatternId(5)}, then(both, {"binds 5"})},
      {OnDevice{Device::Gpu}, {"child 0"}, 1},
  };
}

Node nodeOf(const Sample& sample) {
  Node node;
  for (uint32_t k = 0; k < sample.children; ++k) node.children.push_back(n(k));
  node.payload = sample.payload;
  return node;
}

TEST(TypedWalk, EveryPayloadTellsItsParts) {
  std::vector<bool> seen(std::variant_size_v<Payload>);
  for (const Sample& sample : samples()) {
    seen[sample.payload.index()] = true;
    Told told;
    tellParts(nodeOf(sample), told);
    EXPECT_EQ(told.lines, sample.told) << "payload " << sample.payload.index();
  }
  for (size_t k = 0; k < seen.size(); ++k) EXPECT_TRUE(seen[k]) << "no sample of payload " << k;
}

TEST(TypedWalk, AReductionEvaluatesItsUnitFirstAndCombinesLast) {
  Node node = nodeOf({Nest{ops::MonoidKind::Combine, {}, true, l(1), l(2)}, {}, 4});
  Told told;
  tellParts(node, told);
  EXPECT_EQ(told.lines,
            (std::vector<std::string>{"defines 1", "defines 2", "child 2", "child 1", "child 0", "child 3"}));
}

/// Whoever changes sizes and types in place meets the same ones.
TEST(TypedWalk, SizesAndTypesAreReplacedWhereverTheyAreTold) {
  struct Replaced : NodeParts<Node> {
    void size(DimId& d) override { d = DimId(d.index + 100); }
    void type(TypeId& t) override { t = TypeId(t.index + 100); }
  } replaced;
  for (const Sample& sample : samples()) {
    Node node = nodeOf(sample);
    tellParts(node, replaced);
    Told told;
    tellParts(std::as_const(node), told);
    for (size_t k = 0; k < told.lines.size(); ++k) {
      const std::string& before = sample.told[k];
      bool moves = before.starts_with("size ") || before.starts_with("type ");
      std::string after =
          moves ? before.substr(0, 5) + std::to_string(std::stoi(before.substr(5)) + 100) : before;
      EXPECT_EQ(told.lines[k], after) << "payload " << sample.payload.index();
    }
  }
}

/// `{ match x3 { p0 if <guard> => x3 = x1 } }` with p0 binding x4 and the size s
TEST(TypedWalk, NamesThatArmsDefineAreNotRead) {
  Interner interner;
  types::TypeStore types(interner);
  Instance instance;
  const DimSym size = types.dims.newSym({"s", types::DimSymKind::Value, 0, {}});
  for (uint32_t k = 0; k < 5; ++k) instance.locals.add({{}, types.int64(), false, false, {}, {}});
  instance.locals.note(l(4)).asDim = size;
  auto make = [&](Payload payload, std::vector<NodeId> children) {
    Node node;
    node.type = types.unit();
    node.payload = std::move(payload);
    node.children = std::move(children);
    return instance.nodes.add(std::move(node));
  };
  Pattern pattern;
  pattern.kind = PatternKind::Bind;
  pattern.local = l(4);
  const PatternId bound = instance.patterns.add(pattern);
  const NodeId matched = make(LocalRef{l(3)}, {}), guard = make(LocalRef{l(4)}, {});
  const NodeId inner = make(Dim{types.dims.symbol(size)}, {});
  const NodeId body =
      make(Place{l(2), {{StepKind::Index, 0, make(LocalRef{l(1)}, {}), {}, {}, 1, {}}}, {}}, {inner});
  const NodeId match = make(Arms{{{bound, guard, body}}, {}}, {matched});

  Names read;
  collectRead(instance, types, match, read);
  EXPECT_EQ(read.locals, (std::set<LocalId>{l(1), l(2), l(3)}));
  EXPECT_TRUE(read.sizes.empty());
  Names ofBody;
  collectRead(instance, types, body, ofBody);
  EXPECT_EQ(ofBody.sizes, (std::set<DimSym>{size}));
  std::set<LocalId> changed;
  collectChanged(instance, match, changed);
  EXPECT_EQ(changed, (std::set<LocalId>{l(2)}));
}

} // namespace
} // namespace melix::check
