#pragma once
// Constants that types name: their sizes, and the errors in them.

#include "check/signatures/declared.h"

namespace melix::check {

struct ConstantSize {
  DimId dim;         ///< none: it is no size
  std::string why;   ///< it is none
  bool told = false; ///< an error about its value explains `why`
};

struct ConstantShape {
  bool namesOthers = false; ///< it is made of other constants
  bool divides = false;     ///< it, or one of these, holds a `/`
};

class Constants {
public:
  explicit Constants(Checker& checker) : c_(checker) {}

  DimId constantDim(ModuleId module, NameId name);
  const ConstantSize& constantSize(DeclId constant);
  /// The number that a constant is as a size, if it is one.
  std::optional<int64_t> constantNumber(DeclId constant);
  ConstantShape constantShape(DeclId constant);
  /// Keeps the errors of a constant.
  void keepErrors(DeclId constant, std::span<const Diagnostic> errors) {
    errors_.try_emplace(constant, errors.begin(), errors.end());
  }
  /// Reports the error of a constant again: the message may have been dropped, if a trial asked for it first.
  void repeatConstant(DeclId constant);

private:
  ConstantSize computedSize(DeclId decl);
  bool isComplete(InstanceId id, std::set<InstanceId>& seen);

  Checker& c_;
  std::map<DeclId, ConstantSize> sizes_;
  std::map<DeclId, ConstantShape> shapes_;
  std::map<DeclId, std::vector<Diagnostic>> errors_;
};

} // namespace melix::check
