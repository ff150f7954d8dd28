#include "transforms/walks/predicated_sum.h"

namespace melix::transforms {

using namespace core;

OpId SumAtPoints::write(Builder& b, Write number) const {
  const Op op = fn().ops[nest_];
  const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
  const std::vector<uint32_t> keep = nestResults(op)[0].keep;
  Cloner copy(m_, f_, f_);
  ValueId made;
  if (keep.empty()) {
    made = number(copy, b);
  } else {
    NestBuilder around(b);
    for (uint32_t k : keep) copy.values[params[k]] = around.axis(op.dims[k]);
    Builder in = b.in(around.body());
    around.collect(number(copy, in));
    made = around.one();
  }
  const OpId by = fn().values[made].def;
  takeOver(fn(), by, std::vector<ValueId>(op.results.begin(), op.results.end()));
  return by;
}

ValueId SumAtPoints::sum(Cloner& copy, Builder& b, Write term) const {
  const Op op = fn().ops[nest_];
  const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
  NestResult spec = nestResults(op)[0];
  spec.keep.clear();
  NestBuilder made(b);
  for (uint32_t k = 0; k < op.dims.size(); ++k)
    if (!copy.values.contains(params[k])) copy.values[params[k]] = made.axis(op.dims[k]);
  Builder in = b.in(made.body());
  made.add(std::move(spec), term(copy, in));
  return made.one();
}

ValueId selectElse(Builder& b, ValueId holds, TypeId type, const WriteNumber& number,
                   const WriteNumber& otherwise) {
  Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
  yes.yield({number(yes)});
  no.yield({otherwise(no)});
  Op branch = Builder::simple(OpKind::If, {holds});
  branch.regions = {yes.region, no.region};
  return b.one(std::move(branch), type);
}

ValueId selectOrZero(Builder& b, ValueId holds, TypeId type, const WriteNumber& number) {
  return selectElse(b, holds, type, number, [type](Builder& no) { return no.constant(type, 0); });
}

void copyValue(const Function& f, ValueId v, FunctionRef<bool(OpId)> within, Cloner& copy, Builder& b) {
  const OpId def = f.values[v].def;
  if (!def.valid() || copy.values.contains(v) || !within(def)) return;
  for (ValueId operand : Operands(f.ops[def].operands)) copyValue(f, operand, within, copy, b);
  copy.op(def, b);
}

} // namespace melix::transforms
