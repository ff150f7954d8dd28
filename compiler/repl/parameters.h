#pragma once
#include "repl/typed_receiver.h"

namespace melix::repl {

/// A parameter, as the argument of a call names it.
struct ParameterText {
  std::string name;
  std::string type; ///< as it is written, with the default value
};

/// The parameters of a function, or the fields of a struct or a case, that a call may mean; without the one
/// that takes a receiver.
using ParameterList = std::vector<ParameterText>;

/// The parameters of all overloads that take the labels given.
std::vector<ParameterList> parametersOf(const Visible& visible, const std::string& text,
                                        const Cursor& cursor);

/// The parameters that arguments before the cursor have not been given to, of all overloads, each name once.
ParameterList freeParameters(const std::vector<ParameterList>& overloads, const OpenCall& call);
/// Whether the argument at the cursor is a path by the name of its parameter.
bool takesPath(const std::vector<ParameterList>& overloads, const OpenCall& call);

} // namespace melix::repl
