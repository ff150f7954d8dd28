#pragma once
// What must hold of every text that is given to the compiler.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace melix::fuzz {

/// The text goes through what `melix run` does before it makes machine code: it is refused with messages, at
/// most so many, none about what another is about, or every pass makes of it what its verifier accepts.
/// Anything else ends the process with what happened and the program.
void requireCompiled(const std::string& text, size_t mostMessages);

struct Message {
  bool isError;
  uint32_t line;
  std::string text; ///< as users see it
};

/// What `melix check` says of a text, in its order.
std::vector<Message> messagesOf(const std::string& text);

} // namespace melix::fuzz
