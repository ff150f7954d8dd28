// Accesses of lanes to rows of a constant length, one after the other: whole registers are read, and their
// elements put apart by column, or put together and stored.
#include "codegen/lane_emitter.h"
#include "codegen/registers.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <numeric>

namespace melix::codegen {
namespace {

using Vectors = std::vector<llvm::Value*>;

size_t leastFactor(size_t n) {
  size_t p = 2;
  while (n % p != 0) ++p;
  return p;
}

/// A vector of lanes of several: of each, the number of the vector and of the lane in it.
struct Lane {
  size_t vector;
  int lane;
};
llvm::Value* picked(llvm::IRBuilder<>& b, const Vectors& from, const std::vector<Lane>& lanes) {
  const auto width = static_cast<int>(lanesOf(from[0]));
  llvm::Value* out = from[0];
  for (size_t k = 1; k < from.size(); ++k) {
    std::vector<int> mask;
    for (int t = 0; t < static_cast<int>(lanes.size()); ++t) {
      const Lane& at = lanes[static_cast<size_t>(t)];
      const int before = k == 1 && at.vector == 0 ? at.lane : t;
      mask.push_back(at.vector == k ? width + at.lane : at.vector > k ? -1 : before);
    }
    out = b.CreateShuffleVector(out, from[k], mask);
  }
  return out;
}

/// Rows of as many elements as there are vectors, which stand one after the other in these: a vector of each
/// column. Each residue of the least prime factor is taken out, and its elements are such rows, but shorter.
Vectors columns(llvm::IRBuilder<>& b, const Vectors& rows) {
  const size_t count = rows.size();
  if (count == 1) return rows;
  const size_t p = leastFactor(count), lanes = lanesOf(rows[0]);
  Vectors out(count);
  for (size_t r = 0; r < p; ++r) {
    Vectors part;
    for (size_t j = 0; j < count; j += p) {
      std::vector<Lane> from;
      for (size_t t = 0; t < lanes; ++t)
        from.push_back({(r + p * t) / lanes, static_cast<int>((r + p * t) % lanes)});
      part.push_back(
          picked(b, {rows.begin() + std::ptrdiff_t(j), rows.begin() + std::ptrdiff_t(j + p)}, from));
    }
    const Vectors parts = columns(b, part);
    for (size_t c = 0; c < parts.size(); ++c) out[r + p * c] = parts[c];
  }
  return out;
}

/// The other way.
Vectors rows(llvm::IRBuilder<>& b, const Vectors& columns) {
  const size_t count = columns.size();
  if (count == 1) return columns;
  const size_t p = leastFactor(count), lanes = lanesOf(columns[0]);
  std::vector<Vectors> parts;
  for (size_t r = 0; r < p; ++r) {
    Vectors part;
    for (size_t c = r; c < count; c += p) part.push_back(columns[c]);
    parts.push_back(rows(b, part));
  }
  Vectors out;
  for (size_t k = 0; k < count; ++k) {
    std::vector<Lane> from;
    for (size_t t = 0; t < lanes; ++t) {
      const size_t e = k % p * lanes + t;
      from.push_back({e % p, static_cast<int>(e / p)});
    }
    Vectors merged;
    for (const Vectors& part : parts) merged.push_back(part[k / p]);
    out.push_back(picked(b, merged, from));
  }
  return out;
}

/// Vectors one after the other as one; as many as a power of two.
llvm::Value* concatenated(llvm::IRBuilder<>& b, Vectors parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    std::vector<int> all(2 * lanesOf(parts[0]));
    std::iota(all.begin(), all.end(), 0);
    for (size_t k = 0; k < parts.size() / 2; ++k)
      parts[k] = b.CreateShuffleVector(parts[2 * k], parts[2 * k + 1], all);
  }
  return parts[0];
}

llvm::Value* part(llvm::IRBuilder<>& b, llvm::Value* v, unsigned first, unsigned lanes) {
  std::vector<int> mask(lanes);
  std::iota(mask.begin(), mask.end(), static_cast<int>(first));
  return lanesOf(v) == lanes ? v : b.CreateShuffleVector(v, mask);
}

} // namespace

LaneEmitter::Groups LaneEmitter::byMember(std::span<const loops::LaneGroup> groups) const {
  Groups out;
  if (mask_) return out;
  for (const loops::LaneGroup& group : groups)
    for (const loops::LaneGroup::Member& m : group.members) out[m.stmt] = &group;
  return out;
}

void LaneEmitter::emit(const loops::LaneGroup& group, loops::StmtId at) {
  if (at != group.place()) return;
  if (group.kind == loops::StmtKind::Load)
    loadRows(group);
  else
    storeRows(group);
}

llvm::VectorType* LaneEmitter::registerOf(const loops::LaneGroup& group) const {
  llvm::Type* element = m_.memoryTypeOf(fn_.stmts[group.place()].as<loops::Access>().elem);
  const uint64_t bytes = m_.llvm->getDataLayout().getTypeStoreSize(element);
  const unsigned most = static_cast<unsigned>(machineOf(m_.options.target).vectorBits / (8 * bytes));
  return llvm::FixedVectorType::get(element, std::min(lanes_, most));
}

llvm::Value* LaneEmitter::firstRow(const loops::LaneGroup& group) {
  const Stmt& s = fn_.stmts[group.members.front().stmt];
  const size_t operands = s.operands.size() - (group.kind == loops::StmtKind::Store ? 1 : 0);
  Value* first = place(s, operands).first;
  return group.before == 0 ? first
                           : b_.CreateGEP(m_.i8(), first, b_.getInt64(static_cast<uint64_t>(-group.before)));
}

/// Reads nothing after the highest column of the last lane's row.
void LaneEmitter::loadRows(const loops::LaneGroup& group) {
  llvm::VectorType* type = registerOf(group);
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements(), pieces = lanes_ / lanes;
  const llvm::Align align = m_.llvm->getDataLayout().getABITypeAlign(type->getElementType());
  const unsigned all = (lanes_ - 1) * group.row + group.span(); // elements from the first to the last
  Value* base = firstRow(group);
  auto at = [&](unsigned element) {
    return b_.CreateAlignedLoad(type, b_.CreateConstGEP1_64(type->getElementType(), base, element), align);
  };
  std::vector<Vectors> found(group.row);
  for (unsigned p = 0; p < pieces; ++p) {
    Vectors read;
    for (unsigned k = 0; k < group.row; ++k) {
      const unsigned first = (p * group.row + k) * lanes;
      if (first + lanes <= all) {
        read.push_back(at(first));
      } else if (first < all) {
        std::vector<int> mask(lanes, -1);
        for (unsigned t = 0; first + t < all; ++t) mask[t] = static_cast<int>(first + t - (all - lanes));
        read.push_back(b_.CreateShuffleVector(at(all - lanes), mask));
      } else {
        read.push_back(llvm::PoisonValue::get(type));
      }
    }
    const Vectors parts = columns(b_, read);
    for (unsigned c = 0; c < group.row; ++c) found[c].push_back(parts[c]);
  }
  for (const loops::LaneGroup::Member& m : group.members) {
    const Stmt& s = fn_.stmts[m.stmt];
    Value* v = concatenated(b_, found[m.column]);
    if (m_.typeOf(s.as<loops::Access>().elem) == m_.i1())
      v = b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    keep(s.results[0], v);
  }
}

void LaneEmitter::storeRows(const loops::LaneGroup& group) {
  llvm::VectorType* type = registerOf(group);
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements(), pieces = lanes_ / lanes;
  const llvm::Align align = m_.llvm->getDataLayout().getABITypeAlign(type->getElementType());
  Vectors values(group.row);
  for (const loops::LaneGroup::Member& m : group.members) {
    Value* v = vector(fn_.stmts[m.stmt].operands.back());
    values[m.column] = v->getType()->getScalarType() == m_.i1() ? b_.CreateZExt(v, vectorOf(m_.i8())) : v;
  }
  Vectors stored;
  for (unsigned p = 0; p < pieces; ++p) {
    Vectors parts;
    for (Value* v : values) parts.push_back(part(b_, v, p * lanes, lanes));
    for (Value* v : rows(b_, parts)) stored.push_back(v);
  }
  const Stmt& s = fn_.stmts[group.place()];
  Value* first = firstRow(group);
  if (s.as<loops::Access>().nonTemporal) return storeStream(stored, host_.value(s.operands[0]), first, align);
  for (size_t k = 0; k < stored.size(); ++k)
    b_.CreateAlignedStore(stored[k],
                          b_.CreateConstGEP1_64(type->getElementType(), first, k * uint64_t(lanes)), align);
}

} // namespace melix::codegen
