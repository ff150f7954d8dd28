#pragma once
// Internal to printing: names that are unique where they are read.

#include "core/ir/ir.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::core {

/// Hands out each name once: `x`, `x$1`, `x$2`.
class NamePool {
public:
  std::string take(std::string_view wanted);

private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, unsigned> next_;
};

/// Names for the text of a module. Dimensions are named by renaming the symbols in the store, undone at the
/// end, so that DimStore::print can be used.
class TextNames {
public:
  enum class Dims : uint8_t { Named, Numbered };
  explicit TextNames(const Module& m, Dims dims = Dims::Named);
  ~TextNames();
  TextNames(const TextNames&) = delete;
  TextNames& operator=(const TextNames&) = delete;

  /// Dimension names are unique in a function or record; call at the start of each.
  void beginScope();
  std::string function(FunctionId f) const { return functions_.at(f.index); }
  std::string record(types::RecordId r);
  std::string type(TypeId t);
  std::string dim(DimId d);
  std::string sym(DimSym s);
  /// Records met so far, in order.
  const std::vector<types::RecordId>& recordsMet() const { return recordsMet_; }

private:
  std::string joined(const std::vector<TypeId>& parts);
  std::string wantedName(const types::DimSymInfo& info) const;
  const Module& module_;
  const Dims naming_;
  std::vector<std::string> functions_;
  NamePool dims_, recordNames_;
  std::unordered_map<DimSym, std::string> original_;
  std::unordered_map<types::RecordId, std::string> records_;
  std::vector<types::RecordId> recordsMet_;
};

/// `text` as a word of Core text: itself when it is one, else with every other character as `_`.
std::string asWord(std::string_view text);
/// The same for the name of a value, in which no `.` stands.
std::string asValueWord(std::string_view text);

} // namespace melix::core
