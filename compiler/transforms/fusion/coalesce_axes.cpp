#include "transforms/fusion/coalesce_axes.h"

#include "core/ir/build.h"
#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/order/verify.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

class AxisCollapser {
public:
  AxisCollapser(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  void region(RegionId r) {
    rewriteRegion(m_, id_, r, [&](OpId id) {
      for (RegionId inner : f_.ops[id].regions) region(inner);
      if (f_.ops[id].kind != OpKind::Nest) return true;
      for (uint32_t a = 0; a + 1 < f_.ops[id].dims.size();)
        if (std::optional<std::vector<Read>> reads = readsOf(id, a); reads && !reads->empty())
          collapse(id, a, *reads, r);
        else
          ++a;
      f_.regions[r].ops.push_back(id);
      return false;
    });
  }

private:
  /// A read by both axes: the steps and operands before them, and the axes of the array.
  struct Read {
    OpId get;
    uint32_t step, operand, axis;
  };

  const std::vector<ValueId>& paramsOf(OpId nest) const { return f_.regions[f_.ops[nest].regions[0]].params; }

  /// The reads by axes `a` and `a + 1`; none if they may not be one.
  std::optional<std::vector<Read>> readsOf(OpId nest, uint32_t a) const {
    const Op& op = f_.ops[nest];
    for (const NestResult& r : nestResults(op)) {
      const bool keeps =
          std::any_of(r.keep.begin(), r.keep.end(), [&](uint32_t k) { return k == a || k == a + 1; });
      if (r.kind != NestResultKind::Reduce || keeps || isPosition(r)) return std::nullopt;
    }
    const ValueId first = paramsOf(nest)[a], second = paramsOf(nest)[a + 1];
    std::vector<Read> out;
    bool fit = uses_.count(first) == uses_.count(second);
    uses_.forEach(first, [&](Use use) {
      std::optional<Read> read = fit ? readAt(nest, a, use) : std::nullopt;
      fit = read.has_value();
      if (fit) out.push_back(*read);
    });
    // One read by one pair: whatever takes an array's place must not change what the others determine.
    std::sort(out.begin(), out.end(), [](const Read& x, const Read& y) { return x.get < y.get; });
    auto same = [](const Read& x, const Read& y) { return x.get == y.get; };
    fit = fit && std::adjacent_find(out.begin(), out.end(), same) == out.end();
    return fit ? std::optional(std::move(out)) : std::nullopt;
  }

  std::optional<Read> readAt(OpId nest, uint32_t a, Use use) const {
    const Op& get = f_.ops[use.op];
    if (get.kind != OpKind::Get || use.operand == 0) return std::nullopt;
    const Path& path = get.as<Path>();
    const size_t fields = fieldsOf(path);
    const uint32_t axis = use.operand - 1;
    // All that stands before the two are fields and plain indices, so steps and operands correspond.
    const size_t step = fields + axis;
    if (step + 1 >= path.size() || use.operand + 1 >= get.operands.size()) return std::nullopt;
    for (size_t k = fields; k <= step + 1; ++k)
      if (path[k].kind != StepKind::Index) return std::nullopt;
    const std::optional<TypeId> array = pathType(
        m_.types, f_.typeOf(get.operands[0]), Path(path.begin(), path.begin() + static_cast<long>(fields)));
    if (!array || m_.types.kind(*array) != TypeKind::Array || !isOutside(nest, get.operands[0]))
      return std::nullopt;
    const std::vector<DimId>& dims = m_.types[*array].dims;
    const Op& op = f_.ops[nest];
    const bool whole = axis + 1 < dims.size() && dims[axis] == op.dims[a] && dims[axis + 1] == op.dims[a + 1];
    if (!whole || get.operands[use.operand + 1] != paramsOf(nest)[a + 1]) return std::nullopt;
    return Read{use.op, static_cast<uint32_t>(step), use.operand, axis};
  }

  static size_t fieldsOf(const Path& path) {
    auto it =
        std::find_if(path.begin(), path.end(), [](const PathStep& s) { return s.kind != StepKind::Field; });
    return static_cast<size_t>(it - path.begin());
  }

  bool isOutside(OpId nest, ValueId v) const {
    const RegionId body = f_.ops[nest].regions[0];
    for (RegionId home = uses_.homeOf(v); home.valid();) {
      if (home == body) return false;
      const OpId around = f_.regions[home].parent;
      home = around.valid() ? uses_.regionOf(around) : RegionId();
    }
    return true;
  }

  void collapse(OpId nest, uint32_t a, const std::vector<Read>& reads, RegionId where) {
    Builder build(m_, id_, where, f_.ops[nest].loc);
    const ValueId both = paramsOf(nest)[a], second = paramsOf(nest)[a + 1];
    for (const Read& read : reads) {
      const ValueId array = flat(build, read);
      uses_.change(read.get, [&](Op& op) {
        op.operands[0] = array;
        op.operands.erase(op.operands.begin() + read.operand + 1);
        Path& path = op.as<Path>();
        path.erase(path.begin() + read.step + 1);
        path.erase(path.begin(), path.begin() + static_cast<long>(fieldsOf(path)));
      });
    }
    Op& op = f_.ops[nest];
    op.dims[a] = m_.types.dims.mul(op.dims[a], op.dims[a + 1]);
    f_.values[both].hint = nameOf(both, second);
    dropAxis(f_, uses_, nest, a + 1, both); // nothing uses it any more
  }

  /// For text.
  NameId nameOf(ValueId a, ValueId b) const {
    const NameId first = f_.values[a].hint, second = f_.values[b].hint;
    if (!first.valid() || !second.valid()) return {};
    Interner& names = m_.types.names;
    return names.intern(std::string(names.text(first)) + std::string(names.text(second)));
  }

  /// The array of a read with the two axes as one.
  ValueId flat(Builder& build, const Read& read) {
    const Op& get = f_.ops[read.get];
    const Path& path = get.as<Path>();
    ValueId array = get.operands[0];
    auto enter = [&](ValueId v) { uses_.enter(f_.values[v].def, build.region); };
    if (const size_t fields = fieldsOf(path)) {
      array = build.get(array, Path(path.begin(), path.begin() + static_cast<long>(fields)), {});
      enter(array);
    }
    std::vector<DimId> dims = m_.types[f_.typeOf(array)].dims;
    dims[read.axis] = m_.types.dims.mul(dims[read.axis], dims[read.axis + 1]);
    dims.erase(dims.begin() + read.axis + 1);
    const TypeId type = m_.types.array(m_.types.element(f_.typeOf(array)), std::move(dims));
    array = build.one(Builder::simple(OpKind::Reshape, {array}), type);
    enter(array);
    return array;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
};

} // namespace

void coalesceAxes(Module& m) {
  require(m, {State::SumsUnordered});
  changeBodies(m, [&](FunctionId f) { AxisCollapser(m, f).region(m.functions[f].body); });
}

} // namespace melix::transforms
