#include "transforms/simplify/folder.h"

#include "transforms/simplify/fold_scalars.h"

#include <algorithm>

namespace melix::transforms {

bool Folder::identity(const Op& op) {
  switch (op.kind) {
  case OpKind::CastDims:
    if (f_.typeOf(op.operands[0]) != f_.typeOf(op.results[0])) return false;
    return replace(op, 0, op.operands[0]), true;
  case OpKind::DimValue: {
    const std::optional<DimSym> size = types_.dims.asSymbol(op.dims[0]);
    const auto axis = size ? axes_.find(*size) : axes_.end();
    return axis != axes_.end() && (replace(op, 0, axis->second), true);
  }
  case OpKind::Get: return foldGet(op);
  case OpKind::Capture: {
    const Op* made = defOf(op.operands[0], OpKind::Known);
    if (!made) return false;
    return replace(op, 0, made->operands[op.index()]), true;
  }
  case OpKind::Unpack: return unpack(op);
  case OpKind::Select: {
    std::optional<uint64_t> c = constantOf(op.operands[0]);
    if (!c && op.operands[1] != op.operands[2]) return false;
    return replace(op, 0, op.operands[!c || *c ? 1 : 2]), true;
  }
  case OpKind::Max:
  case OpKind::Min: return extremum(op);
  case OpKind::Convert:
    if (countedUnsigned(op)) return true;
    [[fallthrough]];
  case OpKind::Reshape:
    if (f_.typeOf(op.operands[0]) == f_.typeOf(op.results[0])) return replace(op, 0, op.operands[0]), true;
    if (op.kind == OpKind::Reshape && defOf(op.operands[0], OpKind::Zero))
      becomeZero(f_.values[op.results[0]].def);
    return false;
  case OpKind::Not:
  case OpKind::Neg: {
    const Op* inner = defOf(op.operands[0], op.kind);
    if (!inner) return false;
    return replace(op, 0, inner->operands[0]), true;
  }
  default: return arithmetic(op);
  }
}

bool Folder::arithmetic(const Op& op) {
  if (op.operands.size() != 2 || op.results.size() != 1) return false;
  ValueId a = op.operands[0], b = op.operands[1];
  TypeKind kind = types_.kind(f_.typeOf(a));
  auto is = [&](ValueId v, int64_t n) {
    std::optional<uint64_t> bits = constantOf(v);
    if (bits && (kind == TypeKind::F32 || kind == TypeKind::F64))
      return *bits == floatBits(kind, static_cast<double>(n));
    return isConstant(v, n);
  };
  bool isInt = types::isIntKind(kind);
  ValueId same;
  if (op.kind == OpKind::Mul && is(b, 1)) same = a;
  if (op.kind == OpKind::Mul && is(a, 1)) same = b;
  if ((op.kind == OpKind::Div || op.kind == OpKind::IDiv) && is(b, 1)) same = a;
  if (op.kind == OpKind::Sub && is(b, 0)) same = a;
  if (op.kind == OpKind::Add && isInt && is(b, 0)) same = a;
  if (op.kind == OpKind::Add && isInt && is(a, 0)) same = b;
  if (isInt && op.kind == OpKind::Mul && is(a, 0)) same = a;
  if (isInt && op.kind == OpKind::Mul && is(b, 0)) same = b;
  if (!same.valid() && isInt && op.kind == OpKind::Add) same = sumWithDifference(a, b);
  if (!same.valid() && isInt && op.kind == OpKind::Sub) same = differenceOfSum(a, b);
  if (kind == TypeKind::Bool && (op.kind == OpKind::And || op.kind == OpKind::Or))
    same = connective(op, a, b);
  if (!same.valid()) return false;
  return replace(op, 0, same), true;
}

ValueId Folder::sumWithDifference(ValueId a, ValueId b) const {
  for (auto [difference, y] : {std::pair(a, b), std::pair(b, a)})
    if (const Op* sub = defOf(difference, OpKind::Sub); sub && sub->operands[1] == y) return sub->operands[0];
  return {};
}

ValueId Folder::differenceOfSum(ValueId a, ValueId b) const {
  const Op* sum = defOf(a, OpKind::Add);
  if (!sum) return {};
  if (sum->operands[1] == b) return sum->operands[0];
  return sum->operands[0] == b ? sum->operands[1] : ValueId();
}

bool Folder::extremum(const Op& op) {
  if (f_.typeOf(op.results[0]) != types_.int64()) return false;
  ValueId a = op.operands[0], b = op.operands[1];
  bool isMax = op.kind == OpKind::Max;
  if (ranges_.isNoLess(a, b)) return replace(op, 0, isMax ? a : b), true;
  if (ranges_.isNoLess(b, a)) return replace(op, 0, isMax ? b : a), true;
  return false;
}

bool Folder::countedUnsigned(const Op& op) {
  const Op* inner = defOf(op.operands[0], OpKind::Convert);
  bool back = inner && f_.typeOf(op.results[0]) == types_.int64() &&
              types_.kind(f_.typeOf(op.operands[0])) == TypeKind::U64 &&
              f_.typeOf(inner->operands[0]) == types_.int64();
  if (!back || !ranges_.isNatural(inner->operands[0])) return false;
  return replace(op, 0, inner->operands[0]), true;
}

ValueId Folder::connective(const Op& op, ValueId a, ValueId b) const {
  bool neutral = op.kind == OpKind::And;
  if (a == b) return a;
  if (std::optional<uint64_t> c = constantOf(a)) return (*c != 0) == neutral ? b : a;
  if (std::optional<uint64_t> c = constantOf(b)) return (*c != 0) == neutral ? a : b;
  return {};
}

bool Folder::isReadInPart(OpId id) const {
  const Op& op = f_.ops[id];
  if (op.kind != OpKind::Get) return false;
  auto isElement = [](const PathStep& s) { return s.kind == StepKind::Element; };
  auto isPart = [](const PathStep& s) { return s.kind == StepKind::Slice || s.kind == StepKind::All; };
  const Path& path = op.as<Path>();
  const Op* list = defOf(op.operands[0], OpKind::Get);
  return list && std::any_of(path.begin(), path.end(), isElement) &&
         std::none_of(list->as<Path>().begin(), list->as<Path>().end(), isPart);
}

void Folder::readInPlace(OpId id, const Passed& before) {
  if (!sharing_ || !isReadInPart(id)) return;
  const OpId read = f_.values[f_.ops[id].operands[0]].def;
  const Op* list = &f_.ops[read];
  if (uses_.regionOf(read) != before.region || !sharing_->mayUseLater(list->operands[0], read, id)) return;
  uses_.change(id, [&](Op& own) {
    const Path& outer = list->as<Path>();
    own.as<Path>().insert(own.as<Path>().begin(), outer.begin(), outer.end());
    own.operands.erase(own.operands.begin());
    own.operands.insert(own.operands.begin(), list->operands.begin(), list->operands.end());
  });
  changed_ = true;
}

bool Folder::readFrom(const Op& op, ValueId v, bool dropStep) {
  uses_.change(f_.values[op.results[0]].def, [&](Op& own) {
    own.operands[0] = v;
    if (dropStep) own.as<Path>().erase(own.as<Path>().begin());
  });
  changed_ = true;
  return false;
}

bool Folder::foldGet(const Op& op) {
  const auto& path = op.as<Path>();
  if (std::ranges::all_of(path, [](const PathStep& s) { return s.kind == StepKind::All; }))
    return replace(op, 0, op.operands[0]), true;
  if (path[0].kind != StepKind::Field) return false;
  uint32_t k = path[0].number;
  ValueId from = op.operands[0];
  if (path.size() == 1) {
    if (const Op* made = defOf(from, OpKind::Make)) return replace(op, 0, made->operands[k]), true;
  } else if (const Op* made = defOf(from, OpKind::Make)) { // the rest of the path goes on in the part
    return readFrom(op, made->operands[k], true);
  }
  const Op* update = defOf(from, OpKind::Set);
  if (!update) return false;
  const auto& written = update->as<Path>();
  if (written.empty() || written[0].kind != StepKind::Field) return false;
  if (written[0].number != k) return readFrom(op, update->operands[0], false); // another field was replaced
  if (written.size() != 1 || path.size() != 1) return false;
  return replace(op, 0, update->operands[1]), true;
}

bool Folder::unpack(const Op& op) {
  const Op* made = defOf(op.operands[0], OpKind::Pack);
  if (!made) return false;
  for (size_t k = 0; k < op.resultDims.size(); ++k) replaceDim(op.resultDims[k], made->dims[k]);
  return replace(op, 0, made->operands[0]), true;
}

bool Folder::bindKnown(const Op& op) {
  if (op.kind != OpKind::BindDim) return false;
  const std::optional<DimId> size = ranges_.sizeOf(op.operands[0]); // an i64 that wraps is no dimension
  if (size) replaceDim(op.resultDims[0], *size);
  return size.has_value();
}

void Folder::partOfSize(OpId id) {
  if (!defOf(f_.ops[id].operands[0], OpKind::DimValue)) return;
  const std::optional<DimId> part = ranges_.sizeOf(f_.ops[id].results[0]);
  if (!part || types_.dims.isTooLarge(*part)) return;
  uses_.change(id, [&](Op& op) {
    op.kind = OpKind::DimValue;
    op.operands.clear();
    op.dims = {*part};
    op.attr = {};
  });
  changed_ = true;
}

void Folder::constants(OpId id) {
  const Op& op = f_.ops[id];
  if (op.kind == OpKind::DimValue) {
    if (std::optional<int64_t> c = types_.dims.asConstant(op.dims[0]))
      becomeConstant(id, static_cast<uint64_t>(*c));
    return;
  }
  if (op.results.size() != 1 || op.operands.empty() || !op.regions.empty()) return;
  std::vector<uint64_t> x;
  for (ValueId v : op.operands) {
    std::optional<uint64_t> c = constantOf(v);
    if (!c) return;
    x.push_back(*c);
  }
  const TypeKind kind = types_.kind(f_.typeOf(op.operands[0]));
  if (isRoundedProduct(op, kind, x)) return;
  std::optional<uint64_t> r = foldScalar(op, kind, types_.kind(f_.typeOf(op.results[0])), x);
  if (r) becomeConstant(id, *r);
}

} // namespace melix::transforms
