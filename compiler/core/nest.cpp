#include "core/nest.h"

namespace melix::core {

NestResult collecting(size_t axes) {
  NestResult all;
  for (uint32_t a = 0; a < axes; ++a) all.keep.push_back(a);
  return all;
}

NestView::NestView(const Function& f, const Op& op) : f_(f), op_(op) {
  uint32_t yield = 0, result = 0, unit = accs();
  for (const NestResult& r : op.as<NestAttr>().results) {
    const auto number = static_cast<uint32_t>(parts_.size());
    NestPart part{number,
                  &r,
                  {yield, yieldsOf(r)},
                  {result, resultsOf(r, axes())},
                  {unit, isCombine(r) ? r.yields : 0}};
    yield += part.yields.count;
    result += part.results.count;
    unit += part.units.count;
    parts_.push_back(part);
  }
}

} // namespace melix::core
