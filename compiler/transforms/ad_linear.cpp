// Which values of a jvp companion are its linear part.

#include "transforms/ad.h"
#include "transforms/flow_around.h"
#include "transforms/nest_shape.h"

namespace melix::transforms {

class LinearWalk {
public:
  LinearWalk(Ad& ad, LinearValues& out) : ad_(ad), out_(out), f_(ad.module.functions[out.function]) {}

  void run() {
    for (size_t i = 0; i < out_.params.size(); ++i)
      if (out_.params[i]) mark(f_.params()[i]);
    region(f_.body);
    const Op& y = terminator(f_.body);
    for (size_t i = 0; i < y.operands.size(); ++i)
      if (is(y.operands[i])) out_.results[i] = true;
  }

private:
  const Op& terminator(RegionId r) const { return f_.ops[f_.regions[r].ops.back()]; }
  bool is(ValueId v) const { return out_.values.count(v) != 0; }
  void mark(ValueId v) { changed_ |= out_.values.insert(v).second; }
  void flow(ValueId from, ValueId to) {
    if (is(from)) mark(to);
  }
  void region(RegionId r) {
    for (OpId id : f_.regions[r].ops) op(f_.ops[id]);
  }

  void op(const Op& o) {
    switch (o.kind) {
    case OpKind::Yield:
    case OpKind::Length:
    case OpKind::Check: return;
    case OpKind::If:
    case OpKind::Match: return branch(o);
    case OpKind::For: return loop(o, 1);
    case OpKind::While: return loop(o, 0);
    case OpKind::Nest: return nest(o);
    case OpKind::Call: return call(o);
    default:
      for (ValueId v : o.operands)
        for (ValueId r : o.results) flow(v, r);
    }
  }

  void branch(const Op& o) {
    for (RegionId r : o.regions) {
      if (o.kind == OpKind::Match)
        for (ValueId p : f_.regions[r].params) flow(o.operands[0], p);
      region(r);
      const Op& y = terminator(r);
      for (size_t i = 0; i < o.results.size(); ++i) flow(y.operands[i], o.results[i]);
    }
    if (o.kind == OpKind::Match)
      for (ValueId r : o.results) flow(o.operands[0], r);
  }

  void loop(const Op& o, size_t lead) {
    RegionId body = o.regions.back();
    const std::vector<ValueId>& params = f_.regions[body].params;
    size_t carries = o.operands.size() - lead;
    flowAround(
        f_, o, lead, changed_, [&](ValueId from, ValueId to) { flow(from, to); }, [&] { region(body); });
    if (o.kind ==
        OpKind::While) { // what the condition does with tangents is not needed, but must be known as theirs
      for (size_t i = 0; i < carries; ++i) flow(params[i], f_.regions[o.regions[0]].params[i]);
      region(o.regions[0]);
    }
    const Op& y = terminator(body);
    for (size_t i = 0; i < carries; ++i) flow(params[lead + i], o.results[i]);
    for (size_t i = carries; i < o.results.size(); ++i) flow(y.operands[i], o.results[i]);
  }

  void nest(const Op& o) {
    const NestAttr& attr = o.as<NestAttr>();
    const Region& body = f_.regions[o.regions[0]];
    for (uint32_t i = 0; i < attr.accs; ++i) flow(o.operands[i], body.params[o.dims.size() + i]);
    region(o.regions[0]);
    const Op& y = terminator(o.regions[0]);
    size_t yielded = 0, result = 0;
    for (const NestResult& r : attr.results) {
      for (uint32_t j = 0; j < yieldsOf(r); ++j)
        for (uint32_t k = 0; k < resultsOf(r, o.dims.size()); ++k)
          flow(y.operands[yielded + j], o.results[result + k]);
      yielded += yieldsOf(r);
      result += resultsOf(r, o.dims.size());
    }
    for (uint32_t i = 0; i < attr.accs; ++i) {
      flow(y.operands[yielded + i], o.results[result + i]);
      flow(o.operands[i], o.results[result + i]);
      // An accumulator is linear from its beginning: what handles it is told as a whole.
      flow(o.results[result + i], body.params[o.dims.size() + i]);
    }
  }

  void call(const Op& o) {
    std::vector<bool> params;
    bool any = false;
    for (ValueId v : o.operands) {
      params.push_back(is(v));
      any |= params.back();
    }
    if (!any) return;
    LinearValues& c = ad_.linearEntry(o.as<CallAttr>().callee, params);
    for (size_t i = 0; i < o.results.size(); ++i)
      if (c.results[i]) mark(o.results[i]);
  }

  Ad& ad_;
  LinearValues& out_;
  const Function& f_;
  bool changed_ = false;
};

LinearValues& Ad::linearEntry(FunctionId g, const std::vector<bool>& params) {
  auto [it, isNew] = linearValues_.try_emplace({g, params});
  if (isNew) {
    it->second.function = g;
    it->second.params = params;
    it->second.results.assign(module.functions[g].results.size(), false);
  }
  return it->second;
}

const LinearValues& Ad::linearValues(FunctionId g, const std::vector<bool>& params) {
  LinearValues& root = linearEntry(g, params);
  if (root.done) return root;
  for (bool changed = true; changed;) {
    changed = false;
    size_t before = linearValues_.size();
    for (auto& [key, e] : linearValues_) {
      if (e.done) continue;
      std::vector<bool> results = e.results;
      size_t values = e.values.size();
      LinearWalk(*this, e).run();
      changed |= results != e.results || values != e.values.size();
    }
    changed |= linearValues_.size() != before;
  }
  for (auto& [key, e] : linearValues_) e.done = true;
  return root;
}

} // namespace melix::transforms
