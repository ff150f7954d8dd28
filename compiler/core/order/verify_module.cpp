// A module as a whole: each of its functions, and the names by which they are known.
#include "core/ir/analyses.h"
#include "core/order/verify.h"

#include <cassert>
#include <unordered_set>

namespace melix::core {

std::vector<std::string> verify(const Module& m, States states) {
  std::vector<std::string> out;
  std::unordered_set<std::string_view> keys;
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const Function& f = m.functions[FunctionId(i)];
    if (!f.body.valid()) continue;
    if (!f.key.empty() && !keys.insert(f.key).second) out.push_back("two functions have the key " + f.key);
    std::vector<std::string> own = verifyFunction(m, FunctionId(i), states);
    out.insert(out.end(), own.begin(), own.end());
  }
  if (out.empty() && states.has(State::RecordsFlat)) out = verifyRecords(m);
  return out;
}

void require(const Module& m, States states) {
  assert((!m.analyses->areChecked() || verify(m, states).empty()) && "the module is as the pass requires it");
}

} // namespace melix::core
