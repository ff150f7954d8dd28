#include "check/body/overload_order.h"

#include "check/signatures/declaration_table.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

namespace {

/// A part of a written type of a parameter.
struct Part {
  const std::vector<GenericParam>& generics;
  const Ast& tree;
  SynId type;

  /// As `howSpecific`, whatever its parts are.
  int atRoot() const {
    if (tree.kind(type) == SynKind::PackUse) return 2;
    if (tree.kind(type) != SynKind::Name) return 5;
    for (const GenericParam& g : generics)
      if (g.kind == GenericKind::Type && g.name == tree[type].as<Name>().name) return g.bound ? 4 : 3;
    return 5;
  }
  std::vector<SynId> children() const {
    std::vector<SynId> out;
    forEachChild(tree, type, [&](SynId child) { out.push_back(child); });
    return out;
  }
};

bool isAsSpecific(const Part& a, const Part& b) {
  const int ofA = a.atRoot(), ofB = b.atRoot();
  if (ofA < 5 || ofB < 5) return ofA >= ofB;
  const std::vector<SynId> inA = a.children(), inB = b.children();
  if (a.tree.kind(a.type) != b.tree.kind(b.type) || inA.size() != inB.size()) return true;
  for (size_t k = 0; k < inA.size(); ++k)
    if (!isAsSpecific({a.generics, a.tree, inA[k]}, {b.generics, b.tree, inB[k]})) return false;
  return true;
}

/// The type as it is written of the parameter that gets an argument; none where there is none.
SynId typeFor(const FunctionDecl& fn, const std::vector<int>& argOf, size_t argument) {
  for (size_t p = 0; p < argOf.size(); ++p)
    if (argOf[p] == static_cast<int>(argument)) return fn.params[p].type;
  return {};
}

} // namespace

int howSpecific(const std::vector<GenericParam>& generics, const Ast& tree, SynId type) {
  const Part part{generics, tree, type};
  int least = part.atRoot();
  for (SynId child : part.children()) least = std::min(least, howSpecific(generics, tree, child));
  return least;
}

bool isAsSpecificInParts(Body& body, DeclId a, DeclId b, const std::vector<CallArg>& args) {
  const FunctionDecl& fnA = body.c.declarations.function(a);
  const FunctionDecl& fnB = body.c.declarations.function(b);
  std::vector<int> argsOfA, argsOfB;
  body.matchArgs(fnA, args, argsOfA, false, Span());
  body.matchArgs(fnB, args, argsOfB, false, Span());
  for (size_t k = 0; k < args.size(); ++k) {
    const SynId ofA = typeFor(fnA, argsOfA, k), ofB = typeFor(fnB, argsOfB, k);
    if (ofA && ofB && !isAsSpecific({fnA.generics, body.c.ast(a), ofA}, {fnB.generics, body.c.ast(b), ofB}))
      return false;
  }
  return true;
}

} // namespace melix::check
