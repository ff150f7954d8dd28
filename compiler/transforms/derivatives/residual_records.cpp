// How the record of a call is kept in that of its caller: as a part of it, or in a box, an enum of one case.

#include "transforms/derivatives/derivative_context.h"
#include "types/leaves.h"

namespace melix::transforms {
namespace {

/// Leaves of a record that lies in its caller's. In second order each has a tangent too, and all are
/// parameters of the companions: more cost more in code than a block costs in time
/// (docs/decisions/large_records.md).
constexpr size_t mostInPlace = 48;

} // namespace

/// In a circle of calls nobody knows yet what the callee saves. Within a branch, loop or nest its record lies
/// in an enum, a list or an array; else it would hold itself. What the caller has anyway does not count.
bool Ad::isBoxed(const Linearisation& callee, bool isInBody) {
  if (!callee.planned) return isInBody;
  const std::vector<types::Field>& fields = module.types.recordInfo(callee.saved).cases[0].fields;
  size_t leaves = 0;
  for (size_t k = 0; k < fields.size() && leaves <= mostInPlace; ++k)
    if (!callee.atHand[k]) leaves += types::leafCount(module.types, fields[k].type, mostInPlace);
  return leaves > mostInPlace;
}

RecordId Ad::boxOf(Linearisation& lin) {
  if (lin.box.valid()) return lin.box;
  types::TypeStore& t = module.types;
  const types::Record& saved = t.recordInfo(lin.saved);
  types::Record box;
  box.name = t.names.intern("Boxed_" + std::string(t.names.text(saved.name)));
  box.declaration = 0x60000000u + lin.saved.index;
  box.isEnum = true;
  std::vector<DimId> dims;
  for (DimSym s : saved.dimParams) {
    box.dimParams.push_back(freshDim(s));
    dims.push_back(t.dims.symbol(box.dimParams.back()));
  }
  box.cases.push_back({t.names.intern("saved"), {{NameId(), t.record(lin.saved, dims)}}});
  return lin.box = t.addRecord(std::move(box));
}

} // namespace melix::transforms
