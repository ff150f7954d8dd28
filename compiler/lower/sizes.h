#pragma once
// Checks of sizes.

#include "lower/body.h"

namespace melix::lower {

void checkDivisors(BodyLowering& fn, DimId d);
void checkSize(BodyLowering& fn, DimId written);
void checkSize(BodyLowering& fn, DimId d, const std::string& shown);
void checkClaims(BodyLowering& fn, TypeId from, TypeId to);
void checkDims(BodyLowering& fn, const std::vector<check::DimCheckItem>& items);
void checkCounts(BodyLowering& fn, const std::vector<check::NestAxis>& axes);
void checkExtents(BodyLowering& fn, const std::vector<check::NestAxis>& axes);
void checkShape(BodyLowering& fn, const std::vector<DimId>& dims);
void checkDimArguments(BodyLowering& fn, std::span<const DimId> dims, std::span<const ValueId> args);

} // namespace melix::lower
