#pragma once
// Finds literals of floats whose digits an f32 does not hold.

#include "check/body/body.h"

namespace melix::check {

/// A literal with a point or an exponent, of which nothing says the type.
struct OpenFloat {
  NodeId literal;
  std::string text;
};

/// The literals of a body that lose digits as an f32, before open numbers get their types.
std::vector<OpenFloat> wideLiterals(Body& body);
/// Warns of the literals that became an f32.
void warnLostDigits(Body& body, const std::vector<OpenFloat>& literals);

} // namespace melix::check
