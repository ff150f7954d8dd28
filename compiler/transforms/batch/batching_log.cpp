#include "transforms/batch/batching_log.h"

namespace melix::transforms {

namespace {

struct Entry {
  bool isRefused;
  std::string_view text;
};

/// By kinds.
constexpr Entry entries[] = {
#define BATCHED(Kind, Text) {false, Text},
#define REFUSED(Kind, Text) {true, Text},
#include "transforms/batch/batching.def"
};

} // namespace

bool isRefused(BatchingKind kind) { return entries[static_cast<size_t>(kind)].isRefused; }
std::string_view textOf(BatchingKind kind) { return entries[static_cast<size_t>(kind)].text; }

void forgetRefused(BatchingLog& log) {
  std::erase_if(log, [](const BatchingDecision& d) { return isRefused(d.kind); });
}

} // namespace melix::transforms
