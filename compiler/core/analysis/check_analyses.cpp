#include "core/analysis/check_analyses.h"

#include "core/text/print.h"

namespace melix::core {

namespace {

/// The text of a function: kept as an analysis is, it tells a change that raised no version.
struct FunctionText {
  static constexpr char name[] = "text";
  FunctionText(const Module& m, FunctionId f)
      : text(m.functions[f].body.valid() ? printFunction(m, f) : "") {}
  bool operator==(const FunctionText&) const = default;
  std::string text;
};

} // namespace

std::string checkAnalyses(const Module& m, std::string_view pass) {
  m.analyses->checkAll(m);
  for (uint32_t k = 0; k < m.functions.size(); ++k) m.analyses->of<FunctionText>(m, FunctionId(k));
  if (m.analyses->problem().empty()) return {};
  return std::string(pass) + ": " + m.analyses->problem();
}

} // namespace melix::core
