// Whether a declared function takes the arguments of a call, and how closely (rule 10).
#include "check/body/attempt.h"
#include "check/body/body.h"
#include "check/body/declared_call.h"
#include "check/signatures/declaration_table.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

namespace {

/// One overload tried with the arguments at hand. What this settles and reports is forgotten again.
class OverloadTrial {
public:
  OverloadTrial(Body& body, DeclId decl, const std::vector<CallArg>& args)
      : body_(body), fn_(body.c.declarations.function(decl)), args_(args),
        signature_(body.c.signatures.of(decl, body.aroundNamed(decl))), use_(body.c, signature_) {
    openVariables();
  }

  /// Whether the parameters take the arguments `argOf` gives them; how specific the parameter of each is goes
  /// to `score`.
  bool fits(const std::vector<int>& argOf, std::vector<int>& score);

private:
  void openVariables();
  bool isLentAsWritten(size_t p, const CallArg& arg) const;
  bool argument(size_t p, const CallArg& arg, int& specific);
  bool boundsMet();

  Body& body_;
  const FunctionDecl& fn_;
  const std::vector<CallArg>& args_;
  const Signature& signature_;
  SignatureUse use_;
};

/// Types and sizes to be found: what the values of arguments say of sizes is not looked at.
void OverloadTrial::openVariables() {
  for (TypeId& type : use_.types) type = body_.fresh(fn_.span);
  for (size_t k = 0; k < use_.sizes.size(); ++k)
    use_.sizes[k] = body_.types.dims.symbol(body_.infer.freshDim("_", signature_.sizes[k].span));
}

bool OverloadTrial::fits(const std::vector<int>& argOf, std::vector<int>& score) {
  for (size_t p : signature_.order) {
    if (argOf[p] < 0) continue;
    const auto at = static_cast<size_t>(argOf[p]);
    if (!isLentAsWritten(p, args_[at]) || !argument(p, args_[at], score[at])) return false;
  }
  return boundsMet();
}

/// `&` stands where the parameter is `inout`, and only there; a receiver goes without.
bool OverloadTrial::isLentAsWritten(size_t p, const CallArg& arg) const {
  const bool isInout = fn_.params[p].isInout;
  const bool isRef = arg.syntax && body_.ast.kind(arg.syntax) == SynKind::Ref;
  const bool isIterator =
      !arg.syntax && arg.node.valid() && body_.instance.nodes[arg.node].kind == NodeKind::Local;
  return isInout == isRef || (p == 0 && isInout && (arg.syntax || isIterator));
}

bool OverloadTrial::argument(size_t p, const CallArg& arg, int& specific) {
  const SignatureType& param = signature_.params[p];
  if (!param.isWritten()) return true;
  specific = 5;
  if (!arg.node.valid()) return true;
  TypeStore& types = body_.types;
  const bool isInout = fn_.params[p].isInout;
  const TypeId type = body_.b.typeOf(isInout ? arg.node : body_.unpacked(arg.node, arg.span));
  if (const auto pack = use_.openPack(param)) {
    use_.packs[*pack] = body_.axesLeft(param, type, signature_.packs[*pack].name, fn_.span);
    if (!use_.packs[*pack]) return false;
  }
  const TypeId want = use_.type(param, &body_.infer);
  const bool isFunction = types.kind(body_.infer.shallow(want)) == TypeKind::Function;
  const size_t axes = types.rank(want);
  if (!(isFunction && types.kind(type) == TypeKind::Known) &&
      body_.unifyGiven(want, type).kind == UnifyKind::Mismatch)
    return false;
  const bool ofRows = types.rank(body_.infer.zonk(want)) > axes; // `T[N]` of a matrix
  specific = ofRows ? 1 : param.specific;
  return true;
}

bool OverloadTrial::boundsMet() {
  size_t next = 0;
  return std::all_of(fn_.generics.begin(), fn_.generics.end(), [&](const GenericParam& g) {
    if (g.kind != GenericKind::Type) return true;
    const TypeId given = body_.infer.zonk(use_.types[next++]);
    return !g.bound || body_.boundMet(body_.types.names.text(fn_.name), g, given, fn_.span);
  });
}

} // namespace

/// Whether `decl` takes these (checked) arguments; how specific the parameter of each is goes to `score`.
bool Body::applicable(DeclId decl, const std::vector<CallArg>& args, std::vector<int>& score) {
  std::vector<int> argOf;
  if (!matchArgs(c.declarations.function(decl), args, argOf, false, Span())) return false;
  Attempt attempt(*this);
  score.assign(args.size(), 0);
  return OverloadTrial(*this, decl, args).fits(argOf, score) && !attempt.hasMessages();
}

bool Body::takesFirst(DeclId decl, NodeId value) {
  const FunctionDecl& fn = c.declarations.function(decl);
  if (fn.params.empty()) return false;
  std::vector<int> argOf(fn.params.size(), -1), score(1, 0);
  argOf[0] = 0;
  Attempt attempt(*this);
  const std::vector<CallArg> args{{NameId::none(), SynId::none(), value, fn.span}};
  return OverloadTrial(*this, decl, args).fits(argOf, score) && !attempt.hasMessages();
}

} // namespace melix::check
