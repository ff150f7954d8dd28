#pragma once
#include "fuzz/programs/compare.h"

#include <map>

namespace melix::fuzz::programs {

/// What the programs of a run held.
class Coverage {
public:
  void add(const Case& c, const Checked& checked);
  /// A table of the constructs and in how many programs each stands, and the shares that the design asks for.
  std::string report() const;

private:
  std::map<std::string, unsigned> constructs_; ///< programs that have it
  unsigned programs_ = 0, repeating_ = 0, unknownSizes_ = 0, evaluated_ = 0, panicked_ = 0, refused_ = 0;
  unsigned derivatives_ = 0, kinks_ = 0;
  size_t functions_ = 0, gradients_ = 0, numbers_ = 0;
};

} // namespace melix::fuzz::programs
