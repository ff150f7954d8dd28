#include "transforms/batch/speculated_nest.h"

#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/outline.h"

namespace melix::transforms {

using namespace core;

OpId callOfCopy(Builder& b, OpId nest) {
  Op made = Builder::simple(OpKind::If, {});
  made.loc = b.fn().ops[nest].loc;
  Builder in = b.in(b.newRegion());
  Cloner copy(b.module, b.function, b.function);
  Operands yields;
  for (ValueId v : Results(b.fn().ops[copy.op(nest, in)].results)) yields.push_back(v);
  yields.push_back(in.boolean(true));
  std::vector<TypeId> types;
  for (ValueId v : yields) types.push_back(b.typeOf(v));
  in.yield(yields);
  made.regions = {in.region};
  const OpId call = b.append(std::move(made), types);
  outline(b.module, b.function, call, b.fn().name);
  return call;
}

void fallBack(Builder& b, OpId nest, OpId call) {
  Function& f = b.fn();
  const Results given = f.ops[call].results, results = f.ops[nest].results;
  Op branch = Builder::simple(OpKind::If, {given.back()});
  Builder some = b.in(b.newRegion()), none = b.in(b.newRegion());
  some.yield(Operands(given.begin(), given.end() - 1));
  f.regions[none.region].ops.push_back(nest);
  Operands own;
  std::vector<TypeId> types;
  for (uint32_t k = 0; k < results.size(); ++k) {
    types.push_back(f.typeOf(results[k]));
    own.push_back(f.values.add(Value{types.back(), nest, {}, k, {}}));
  }
  none.yield(own);
  branch.regions = {some.region, none.region};
  takeOver(f, b.append(std::move(branch), types), results);
  f.ops[nest].results.assign(own.begin(), own.end());
}

void dropLastResult(Module& m, FunctionId id) {
  Function& f = m.functions[id];
  f.results.pop_back();
  f.ops[terminatorId(f, f.body)].operands.resize(f.results.size());
}

} // namespace melix::transforms
