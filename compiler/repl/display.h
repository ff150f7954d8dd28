#pragma once
// Values as a prompt shows them: for people, at most a screen of any value. `print` writes values as they are
// typed.

#include "interp/value.h"

#include <functional>

namespace melix::repl {

struct DisplayOptions {
  size_t columns = 80; ///< of a line
  size_t rows = 20;    ///< of an array, list or record; of longer ones both ends
  int digits = 6;      ///< of floats in arrays
};

/// Numbers, texts and the like as they are typed.
using ShowLeaf = std::function<std::string(types::TypeId, const interp::Value&)>;

/// Text of one or more lines, without a newline at its end. A value that fits on a line is as `print` shows
/// it within another one. Arrays that do not, and all matrices, stand in aligned columns under their type;
/// records, lists and dictionaries a part a line. Parts that are left out cost nothing.
std::string display(types::TypeStore& types, types::TypeId type, const interp::Value& value,
                    const ShowLeaf& show, const DisplayOptions& options = {});

} // namespace melix::repl
