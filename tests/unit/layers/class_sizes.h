#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace melix::layers {

/// A class or struct as its definition lists it: member functions (constructors and operators too), and
/// fields.
struct ClassSize {
  std::string name;
  std::filesystem::path file;
  size_t methods = 0, fields = 0;
};

/// The classes that a C++ text defines, inner ones too; formatted code is enough to tell members apart.
std::vector<ClassSize> classesIn(const std::string& text);

/// The classes defined in the C++ sources below a folder.
std::vector<ClassSize> classesBelow(const std::filesystem::path& folder);

} // namespace melix::layers
