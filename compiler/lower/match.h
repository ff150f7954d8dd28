#pragma once
// Matches: patterns tested, bound, and put together again.

#include "lower/body.h"

namespace melix::lower {

/// A match being lowered; `held` is the place whose parts the arms change, without its value.
struct Matching {
  ValueId value;
  std::vector<check::Arm> arms;
  TypeId type;
  std::vector<DimSym> sizes;
  std::optional<Held> held;
};

/// Parameters of the region that is being made, for the payload of a case.
std::vector<ValueId> payloadParams(BodyLowering& fn, TypeId type, uint32_t c);
/// A `match` op. A case for which `hasOwn` holds has a region of its own, which takes its payload; the others
/// share one.
struct CaseRegions {
  FunctionRef<bool(uint32_t c)> hasOwn;
  FunctionRef<ValueId(uint32_t c, const std::vector<ValueId>& payload)> own;
  FunctionRef<ValueId()> shared;
};
ValueId matchCases(BodyLowering& fn, ValueId value, const CaseRegions& regions, TypeId type,
                   const std::vector<DimSym>& sizes);
ValueId lowerMatch(BodyLowering& fn, const check::Node& node);
ValueId matchChain(BodyLowering& fn, const Matching& m, size_t k);
ValueId armBody(BodyLowering& fn, const Matching& m, const check::Arm& arm);
std::optional<ValueId> matchTable(BodyLowering& fn, const Matching& m, size_t k);
ValueId testPattern(BodyLowering& fn, ValueId value, check::PatternId p);
ValueId testLiteral(BodyLowering& fn, ValueId value, const check::Pattern& p,
                    ops::CmpKind how = ops::CmpKind::Eq);
void bindPattern(BodyLowering& fn, ValueId value, check::PatternId p);
ValueId openSizes(BodyLowering& fn, ValueId value, const check::Pattern& p);

} // namespace melix::lower
