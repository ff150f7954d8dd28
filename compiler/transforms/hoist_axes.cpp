#include "transforms/hoist_axes.h"

#include "core/clone.h"
#include "core/nest.h"
#include "core/walk.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class Hoister {
public:
  Hoister(Module& m, FunctionId id, const Effects& effects) : m_(m), id_(id), effects_(effects) {}

  void region(RegionId r) {
    // Inner sweeps first: what leaves them may go on from here.
    const std::vector<OpId>& list = fn().regions[r].ops;
    for (OpId op : list)
      for (RegionId inner : fn().ops[op].regions) region(inner);
    std::vector<OpId> out;
    for (OpId op : list) {
      OpKind kind = fn().ops[op].kind;
      if (kind == OpKind::Nest || kind == OpKind::For) invariants(op, out);
      if (kind == OpKind::Nest) partial(op, out);
      out.push_back(op);
    }
    fn().regions[r].ops = std::move(out);
  }

private:
  Function& fn() { return m_.functions[id_]; }

  /// Values and dims that are made inside the region.
  struct Inside {
    std::set<ValueId> values;
    std::set<DimSym> dims;
  };
  Inside inside(RegionId r) {
    Inside out;
    const Region& region = fn().regions[r];
    out.values.insert(region.params.begin(), region.params.end());
    out.dims.insert(region.dimParams.begin(), region.dimParams.end());
    for (OpId id : region.ops) {
      const Op& op = fn().ops[id];
      out.values.insert(op.results.begin(), op.results.end());
      out.dims.insert(op.resultDims.begin(), op.resultDims.end());
    }
    return out;
  }

  /// Which of the region's own values an op needs, itself and in its regions; nullopt if it needs one of its
  /// dims.
  std::optional<std::set<ValueId>> needs(OpId id, const Inside& in) {
    std::set<ValueId> out;
    bool dims = false;
    auto look = [&](const Op& op) {
      for (ValueId v : op.operands)
        if (in.values.contains(v)) out.insert(v);
      std::vector<DimSym> syms;
      for (DimId d : op.dims) m_.types.dims.collectSymbols(d, syms);
      for (ValueId v : op.results) m_.types.collectSymbols(fn().typeOf(v), syms);
      if (auto* path = std::get_if<Path>(&op.attr))
        for (const PathStep& s : *path)
          if (s.length.valid()) m_.types.dims.collectSymbols(s.length, syms);
      for (DimSym s : syms) dims |= in.dims.contains(s);
    };
    const Op& op = fn().ops[id];
    look(op);
    for (RegionId r : op.regions) forEachOp(fn(), r, [&](OpId i) { look(fn().ops[i]); });
    if (dims) return std::nullopt;
    return out;
  }

  bool moves(OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::Yield || op.kind == OpKind::Undef || !op.resultDims.empty()) return false;
    for (ValueId v : op.results)
      if (m_.types.kind(fn().typeOf(v)) == TypeKind::Acc) return false;
    return !effects_.ofOp(fn(), id).any();
  }

  /// Reads whose index is out of range are caught by a check in front of them, and what is computed only
  /// where a sweep has a point has no case before: such a read must stay where it is.
  bool isGuarded(OpId id) {
    bool reads = false;
    auto look = [&](const Op& op) {
      if (op.kind == OpKind::Get) reads |= pathOperands(op.as<Path>()) > 0;
      reads |= op.kind == OpKind::Set || op.kind == OpKind::AddAt || op.kind == OpKind::Match ||
               op.kind == OpKind::Length;
    };
    look(fn().ops[id]);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, [&](OpId i) { look(fn().ops[i]); });
    return reads;
  }
  bool hasChecks(RegionId r) {
    bool found = false;
    forEachOp(fn(), r, [&](OpId i) { found |= fn().ops[i].kind == OpKind::Check; });
    return found;
  }

  bool runsAtLeastOnce(OpId sweep) {
    const Op& op = fn().ops[sweep];
    return op.kind == OpKind::Nest && m_.types.dims.atLeast(m_.types.dims.product(op.dims), 1);
  }
  /// A read at axes of enclosing nests that run over just the axes read: right also where the sweep is empty.
  bool inRange(OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Get || m_.types.kind(fn().typeOf(op.operands[0])) != TypeKind::Array) return false;
    const types::Type& array = m_.types[fn().typeOf(op.operands[0])];
    const Path& path = op.as<Path>();
    for (size_t k = 0; k < path.size(); ++k) {
      if (path[k].kind == StepKind::All) continue;
      if (path[k].kind != StepKind::Index || k >= array.dims.size() || pathOperands(path) != path.size())
        return false;
      const Value& v = fn().values[op.operands[k + 1]];
      if (!v.region.valid() || !fn().regions[v.region].parent.valid()) return false;
      const Op& nest = fn().ops[fn().regions[v.region].parent];
      if (nest.kind != OpKind::Nest || v.index >= nest.dims.size() || nest.dims[v.index] != array.dims[k])
        return false;
    }
    return true;
  }

  void invariants(OpId sweep, std::vector<OpId>& out) {
    RegionId r = fn().ops[sweep].regions[0];
    Inside in = inside(r);
    bool checks = hasChecks(r), always = runsAtLeastOnce(sweep);
    std::vector<OpId> kept;
    for (OpId id : fn().regions[r].ops) {
      std::optional<std::set<ValueId>> n = moves(id) ? needs(id, in) : std::nullopt;
      bool stays = !n || !n->empty() || (isGuarded(id) && (checks || !(always || inRange(id))));
      if (stays) {
        kept.push_back(id);
        continue;
      }
      out.push_back(id);
      for (ValueId v : fn().ops[id].results) in.values.erase(v);
    }
    fn().regions[r].ops = std::move(kept);
  }

  bool isDear(OpId id) {
    bool dear = false;
    auto look = [&](const Op& op) {
      dear |= op.kind == OpKind::Math || op.kind == OpKind::Call || op.kind == OpKind::Nest ||
              op.kind == OpKind::For;
    };
    look(fn().ops[id]);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, [&](OpId i) { look(fn().ops[i]); });
    return dear;
  }

  /// What of a nest's body may be made once more in front of it.
  struct Movable {
    std::set<ValueId> varies;   ///< with which parameters of the body
    std::vector<OpId> operands; ///< the ops of the body that make what it needs
    size_t position = 0;
    bool read = false; ///< what it needs stands in front of the nest by now
  };
  using Body = std::unordered_map<OpId, Movable>;

  /// Dear values of a nest's body that vary with some of its axes only: each becomes a nest in front of it.
  void partial(OpId nest, std::vector<OpId>& out) {
    RegionId r = fn().ops[nest].regions[0];
    size_t axes = fn().ops[nest].dims.size();
    if (axes < 2 || hasChecks(r)) return;
    const Inside in = inside(r);
    Body body;
    const std::vector<OpId>& list = fn().regions[r].ops;
    for (size_t k = 0; k < list.size(); ++k) {
      std::optional<std::set<ValueId>> n = needs(list[k], in);
      if (!n || !moves(list[k]) || fn().ops[list[k]].results.size() != 1) continue;
      Movable made{{}, {}, k};
      bool all = true;
      for (ValueId v : *n) {
        const Value& value = fn().values[v];
        if (value.region == r) {
          made.varies.insert(v);
          continue;
        }
        auto by = body.find(value.def);
        all = all && by != body.end();
        if (!all) break;
        made.varies.insert(by->second.varies.begin(), by->second.varies.end());
        made.operands.push_back(value.def);
      }
      if (!all) continue;
      const std::set<ValueId>& with = made.varies;
      bool onlyAxes =
          std::all_of(with.begin(), with.end(), [&](ValueId p) { return fn().values[p].index < axes; });
      made.read = isDear(list[k]) && onlyAxes && !with.empty() && with.size() < axes;
      Movable& at = body.emplace(list[k], std::move(made)).first->second;
      if (at.read) readBack(nest, list[k], at.varies, chainOf(list[k], body), out);
    }
  }

  /// The op and those that make what it needs, in order; what stands in front of the nest is read there.
  static std::vector<OpId> chainOf(OpId id, const Body& body) {
    std::vector<OpId> chain{id};
    std::unordered_set<OpId> seen{id};
    for (size_t k = 0; k < chain.size(); ++k) {
      if (k > 0 && body.at(chain[k]).read) continue;
      for (OpId o : body.at(chain[k]).operands)
        if (seen.insert(o).second) chain.push_back(o);
    }
    std::sort(chain.begin(), chain.end(),
              [&](OpId a, OpId b) { return body.at(a).position < body.at(b).position; });
    return chain;
  }

  /// Makes the nest over `with` and turns the op at hand into a read of its result.
  void readBack(OpId nest, OpId id, const std::set<ValueId>& with, const std::vector<OpId>& chain,
                std::vector<OpId>& out) {
    const Op& outer = fn().ops[nest];
    RegionId from = outer.regions[0];
    LocId loc = fn().ops[id].loc;
    RegionId scratch = fn().regions.add(Region{});
    Builder b(m_, id_, scratch, loc);
    NestBuilder made(b);
    Builder body = b.in(made.body());
    Cloner cloner(m_, id_, id_);
    std::vector<ValueId> indices;
    const std::vector<ValueId>& params = fn().regions[from].params;
    for (uint32_t a = 0; a < outer.dims.size(); ++a) {
      if (!with.contains(params[a])) continue;
      cloner.values.emplace(params[a], made.axis(outer.dims[a], fn().values[params[a]].hint));
      indices.push_back(params[a]);
    }
    for (OpId o : chain) cloner.op(o, body);
    made.collect(cloner.value(fn().ops[id].results[0]));
    ValueId table = made.one();
    out.push_back(fn().values[table].def);
    // The op itself becomes the read, so that its result keeps its id.
    Op& op = fn().ops[id];
    op.kind = OpKind::Get;
    op.operands = {table};
    op.operands.insert(op.operands.end(), indices.begin(), indices.end());
    op.dims.clear();
    op.regions.clear();
    op.attr = Path(indices.size(), PathStep{StepKind::Index, 0, {}, 1});
  }

  Module& m_;
  FunctionId id_;
  const Effects& effects_;
};

} // namespace

void hoistAxes(Module& m) {
  Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (m.functions[f].body.valid()) Hoister(m, f, effects).region(m.functions[f].body);
  }
}

} // namespace melix::transforms
