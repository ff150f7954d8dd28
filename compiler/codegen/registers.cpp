#include "codegen/registers.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/DerivedTypes.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace melix::codegen {

unsigned lanesOf(const llvm::Value* v) {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

namespace {

/// Places `first`, `first` + 1, … up to `end` in a shuffle; those after are anything.
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

/// What `op` gives of the operands' lanes, as many at a time as fill a register of `bits`.
llvm::Value* byRegisters(llvm::IRBuilder<>& builder, unsigned bits,
                         std::initializer_list<llvm::Value*> operands,
                         llvm::function_ref<llvm::Value*(std::vector<llvm::Value*>)> op) {
  llvm::Value* first = *operands.begin();
  const unsigned count = lanesOf(first), lanes = bits / first->getType()->getScalarSizeInBits();
  std::vector<llvm::Value*> parts;
  for (unsigned at = 0; at < count; at += lanes) {
    std::vector<llvm::Value*> given;
    for (llvm::Value* v : operands) given.push_back(builder.CreateShuffleVector(v, places(at, count, lanes)));
    parts.push_back(op(std::move(given)));
  }
  llvm::Value* all = joined(builder, std::move(parts));
  return count < lanes ? builder.CreateShuffleVector(all, places(0, count, count)) : all;
}

} // namespace

llvm::Value* inRegisters(llvm::IRBuilder<>& builder, const RegisterOps& ops,
                         std::initializer_list<llvm::Value*> operands, std::optional<uint32_t> byte) {
  llvm::Value* first = *operands.begin();
  const unsigned width = first->getType()->getScalarSizeInBits();
  const unsigned bits = std::clamp(lanesOf(first) * width, 128U, 512U), lanes = bits / width;
  return byRegisters(builder, bits, operands, [&](std::vector<llvm::Value*> given) {
    llvm::Value* off = given[0]; // of lanes that the mask leaves out: none
    if (byte) given.push_back(builder.getInt32(*byte));
    given.push_back(off);
    given.push_back(builder.getIntN(std::max(8U, lanes), (uint64_t(1) << lanes) - 1));
    if (bits == 512) given.push_back(builder.getInt32(4)); // as everything else is rounded
    return builder.CreateIntrinsic(bits == 128 ? ops.of128 : bits == 256 ? ops.of256 : ops.of512, given);
  });
}

llvm::Value* inWholeRegisters(llvm::IRBuilder<>& builder, llvm::Intrinsic::ID op,
                              std::initializer_list<llvm::Value*> operands, uint32_t rounding) {
  return byRegisters(builder, 512, operands, [&](std::vector<llvm::Value*> given) {
    given.push_back(builder.getInt32(rounding));
    return builder.CreateIntrinsic(op, given);
  });
}

} // namespace melix::codegen
