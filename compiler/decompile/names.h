#pragma once
// Identifiers: free of reserved words, unique where they meet.

#include "core/ir/ir.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::decompile {

/// Names given to functions, records, values and dims.
class Names {
public:
  explicit Names(const core::Module& m) : m_(m) {}

  std::string function(core::FunctionId f);
  /// A new name for a function of the runtime.
  std::string builtin(ops::BuiltinKind kind);
  /// A new name for a declaration.
  std::string item(std::string_view hint);
  /// Of the function that negates a value of a record, or adds two.
  std::string combining(types::RecordId r, size_t operands);
  std::string record(types::RecordId r);
  std::string field(types::RecordId r, uint32_t c, uint32_t k);
  std::string enumCase(types::RecordId r, uint32_t c);
  std::string dim(core::DimSym s, bool upper = true);
  /// Names the parameters of a record, which are read by name.
  void ofRecord(const std::vector<core::DimSym>& symbols);
  /// Names a size that is a parameter of several declarations.
  void parameter(core::DimSym s);
  /// A new local name that looks like `hint`.
  std::string local(std::string_view hint);
  void startFunction();

private:
  /// Names that are taken, and how often each was wanted.
  struct Taken {
    std::unordered_set<std::string> names;
    std::unordered_map<std::string, int> wanted;
  };
  /// A name that is neither in `taken`, into which it goes, nor in `also`.
  static std::string unique(const std::string& wanted, Taken& taken, const Taken& also);

  const core::Module& m_;
  Taken items_, locals_, parameterNames_;
  std::map<core::FunctionId, std::string> functions_;
  std::map<types::RecordId, std::string> records_;
  std::map<std::pair<types::RecordId, size_t>, std::string> combining_;
  std::map<types::RecordId, std::vector<std::string>> cases_;
  std::map<core::DimSym, std::string> parameters_, dims_;
};

/// Letters, digits and underscores of `text`, so that it is an identifier.
std::string identifier(std::string_view text, bool capital);

} // namespace melix::decompile
