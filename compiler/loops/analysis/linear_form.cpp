#include "loops/analysis/linear_form.h"

#include "core/analysis/affine.h"
#include "loops/ir/build.h"

#include <unordered_map>

namespace melix::loops {

namespace {

constexpr int mostDepth = 24; ///< operations between a value and its terms

/// Each value is looked at once, however often others are computed from it.
class LinearFormReader {
public:
  LinearFormReader(const Function& fn, FunctionRef<bool(ValueId)> isTerm) : fn_(fn), isTerm_(isTerm) {}

  const std::optional<LinearForm>& of(ValueId v, int depth) {
    if (const auto known = forms_.find(v); known != forms_.end()) return known->second;
    std::optional<LinearForm> found = find(v, depth);
    return forms_.emplace(v, std::move(found)).first->second;
  }

private:
  std::optional<LinearForm> find(ValueId v, int depth) {
    if (const uint64_t* known = asConstant(fn_, v)) return LinearForm{{}, static_cast<int64_t>(*known)};
    if (isTerm_(v)) return LinearForm{{{v, 1}}, 0};
    const Stmt* s = scalarOf(fn_, v);
    if (!s || depth == 0 || s->as<ScalarAttr>().from != TypeKind::I64) return std::nullopt;
    return core::openLinear<LinearForm>(s->as<ScalarAttr>().op,
                                        [&](size_t k) { return of(s->operands[k], depth - 1); });
  }

  const Function& fn_;
  FunctionRef<bool(ValueId)> isTerm_;
  std::unordered_map<ValueId, std::optional<LinearForm>> forms_;
};

} // namespace

std::optional<LinearForm> linearForm(const Function& fn, ValueId v, FunctionRef<bool(ValueId)> isTerm) {
  return LinearFormReader(fn, isTerm).of(v, mostDepth);
}

} // namespace melix::loops
