#include "transforms/hoisting/reuse_size_symbols.h"

#include "core/ir/build.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

class Namer {
public:
  Namer(Module& m, FunctionId f) : m_(m), f_(f) {}

  void run(RegionId region) {
    std::vector<ValueId> bound;
    rewriteRegion(m_, f_, region, [&](OpId id) {
      Op& op = fn().ops[id];
      if (!sizes_.empty()) name(op);
      for (RegionId inner : op.regions) run(inner);
      if (op.kind == OpKind::BindDim && !isSize(op.operands[0])) {
        Builder b(m_, f_, region, op.loc);
        const ValueId size = b.dimValue(m_.types.dims.symbol(op.resultDims[0]));
        sizes_.emplace(op.operands[0], size);
        bound.push_back(op.operands[0]);
      }
      return true;
    });
    for (ValueId v : bound) sizes_.erase(v);
  }
  bool changed = false;

private:
  Function& fn() const { return m_.functions[f_]; }
  /// A size, or a constant, is known as well as can be.
  bool isSize(ValueId v) const {
    const OpId def = fn().values[v].def;
    return def.valid() && (fn().ops[def].kind == OpKind::DimValue || fn().ops[def].kind == OpKind::Const);
  }
  void name(Op& op) {
    for (ValueId& v : op.operands)
      if (auto size = sizes_.find(v); size != sizes_.end()) {
        v = size->second;
        changed = true;
      }
  }

  Module& m_;
  const FunctionId f_;
  std::unordered_map<ValueId, ValueId> sizes_; ///< by numbers that were bound in the regions around
};

} // namespace

bool reuseSizeSymbols(Module& m) {
  return changeBodies(m, [&](FunctionId f) {
    Namer namer(m, f);
    namer.run(m.functions[f].body);
    return namer.changed;
  });
}

} // namespace melix::transforms
