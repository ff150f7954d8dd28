#include "codegen/registers.h"

#include <llvm/IR/DerivedTypes.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace melix::codegen {

namespace {

unsigned lanesOf(const llvm::Value* v) {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

/// Places `first`, `first` + 1, … up to `end` in a shuffle; those behind are anything.
std::vector<int> places(unsigned first, unsigned end, unsigned lanes) {
  std::vector<int> out(lanes, llvm::PoisonMaskElem);
  std::iota(out.begin(), out.begin() + std::min(lanes, end - first), static_cast<int>(first));
  return out;
}

/// Vectors of one type as one, by halves.
llvm::Value* joined(llvm::IRBuilder<>& builder, std::vector<llvm::Value*> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    const unsigned lanes = 2 * lanesOf(parts[0]);
    for (size_t k = 0; k < parts.size() / 2; ++k)
      parts[k] = builder.CreateShuffleVector(parts[2 * k], parts[2 * k + 1], places(0, lanes, lanes));
  }
  return parts[0];
}

} // namespace

llvm::Value* inRegisters(llvm::IRBuilder<>& builder, const RegisterOps& ops,
                         std::initializer_list<llvm::Value*> operands, std::optional<uint32_t> byte) {
  llvm::Value* first = *operands.begin();
  const unsigned count = lanesOf(first), width = first->getType()->getScalarSizeInBits();
  const unsigned bits = std::clamp(count * width, 128U, 512U), lanes = bits / width;
  std::vector<llvm::Value*> parts;
  for (unsigned at = 0; at < count; at += lanes) {
    std::vector<llvm::Value*> given;
    for (llvm::Value* v : operands) given.push_back(builder.CreateShuffleVector(v, places(at, count, lanes)));
    llvm::Value* off = given[0]; // of lanes that the mask leaves out: none
    if (byte) given.push_back(builder.getInt32(*byte));
    given.push_back(off);
    given.push_back(builder.getIntN(std::max(8U, lanes), (uint64_t(1) << lanes) - 1));
    if (bits == 512) given.push_back(builder.getInt32(4)); // as everything else is rounded
    parts.push_back(builder.CreateIntrinsic(bits == 128   ? ops.of128
                                            : bits == 256 ? ops.of256
                                                          : ops.of512,
                                            given));
  }
  llvm::Value* all = joined(builder, std::move(parts));
  return count < lanes ? builder.CreateShuffleVector(all, places(0, count, count)) : all;
}

} // namespace melix::codegen
