#pragma once
// Orders parameters by how specific they are: of several functions that a call fits, the most specific one is
// meant (rule 10).

#include "check/body/body.h"

namespace melix::check {

/// Of the least specific part of a type: from 2, with a rank pack, through types that are free or bounded, to
/// 5, without generics.
int howSpecific(const std::vector<GenericParam>& generics, const syntax::Ast& tree, SynId type);

/// Whether the parameters of `a` are part by part at least as specific as the parameters of `b`, where both
/// take the arguments: `List[(T, int)]` is to `List[(T, U)]`. Parts that the other one does not distinguish
/// are ignored.
bool isAsSpecificInParts(Body& body, DeclId a, DeclId b, const std::vector<CallArg>& args);

} // namespace melix::check
