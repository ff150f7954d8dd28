#pragma once
// One small function for each op of ops.def: what it is given and what it must give. Held total by
// op_rules_test.cpp.
#include "interp/value.h"
#include "ops/ops.h"

#include <vector>

namespace melix::interp {

struct OpExample {
  ops::OpKind kind;
  const char* signature; ///< of f: `[dims] (parameters) -> (results)`
  const char* body;
  std::vector<Value> args;
  const char* expected; ///< the results as text, or the panic's message
};

const std::vector<OpExample>& opExamples();

/// `1.5`, `[1 2 3]`, `(1, 2)`, `#1(2.5)`, `"text"`, `<1 2>` for lists.
std::string show(const Value& v);

} // namespace melix::interp
