// Whether a declared function takes the arguments of a call, and how closely (rule 10).
#include "check/body/attempt.h"
#include "check/body/body.h"
#include "check/body/declared_call.h"
#include "check/body/overload_order.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

namespace {

/// One overload tried with the arguments at hand. What this settles and reports is forgotten again.
class OverloadTrial {
public:
  OverloadTrial(Body& body, DeclId decl, const std::vector<CallArg>& args)
      : body_(body), fn_(body.c.function(decl)), tree_(body.c.ast(decl)), args_(args),
        resolver_(body.c, fn_.module, tree_, bound_) {
    declareGenerics();
  }

  /// Whether the parameters take the arguments `argOf` gives them; how specific the parameter of each is goes
  /// to `score`.
  bool fits(const std::vector<int>& argOf, std::vector<int>& score);

private:
  void declareGenerics();
  bool isLentAsWritten(size_t p, const CallArg& arg) const;
  bool argument(size_t p, const CallArg& arg, int& specific);
  bool boundsMet();
  DimId freshSize(std::string name) {
    return body_.types.dims.symbol(body_.infer.freshDim(std::move(name), fn_.span));
  }

  Body& body_;
  const FunctionDecl fn_;
  const Ast& tree_;
  const std::vector<CallArg>& args_;
  TypeEnv bound_;
  TypeResolver resolver_;
};

void OverloadTrial::declareGenerics() {
  resolver_.around.bindDim = [this](NameId dim, Span at) {
    const std::string name = dim ? std::string(body_.types.names.text(dim)) : "_";
    return body_.types.dims.symbol(body_.infer.freshDim(name, at));
  };
  resolver_.around.bindType = [this](NameId, Span at) { return body_.fresh(at); };
  resolver_.around.valueDim = [this](SynId) { return freshSize("_"); };
  resolver_.around.solved = [this](TypeId type) { return body_.infer.zonk(type); };
  for (const GenericParam& g : fn_.generics)
    if (g.kind == GenericKind::Type)
      bound_.types[g.name] = body_.fresh(fn_.span);
    else if (g.kind == GenericKind::Dim)
      bound_.dims[g.name] = freshSize("d");
}

bool OverloadTrial::fits(const std::vector<int>& argOf, std::vector<int>& score) {
  for (size_t p : orderOfTelling(fn_, tree_, body_.types.names)) {
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
  const ParamDecl& param = fn_.params[p];
  if (!param.type) return true;
  specific = 5;
  if (!arg.node.valid()) return true;
  TypeStore& types = body_.types;
  const TypeId type = body_.b.typeOf(param.isInout ? arg.node : body_.unpacked(arg.node, arg.span));
  if (!body_.bindPackAxes(fn_, param.type, type, bound_, fn_.span)) return false;
  resolver_.owner = param.name;
  const TypeId want = resolver_.parameter(param.type, param.isInout);
  const bool isFunction = types.kind(body_.infer.shallow(want)) == TypeKind::Function;
  const size_t axes = types.rank(want);
  if (!(isFunction && types.kind(type) == TypeKind::Known) &&
      body_.unifyGiven(want, type).kind == UnifyKind::Mismatch)
    return false;
  const bool ofRows = types.rank(body_.infer.zonk(want)) > axes; // `T[N]` of a matrix
  specific = ofRows ? 1 : howSpecific(fn_, tree_, param.type);
  return true;
}

bool OverloadTrial::boundsMet() {
  return std::all_of(fn_.generics.begin(), fn_.generics.end(), [&](const GenericParam& g) {
    return g.kind != GenericKind::Type || !g.bound ||
           body_.boundMet(body_.types.names.text(fn_.name), g, body_.infer.zonk(bound_.types[g.name]),
                          fn_.span);
  });
}

} // namespace

/// Whether `decl` takes these (checked) arguments; how specific the parameter of each is goes to `score`.
bool Body::applicable(DeclId decl, const std::vector<CallArg>& args, std::vector<int>& score) {
  std::vector<int> argOf;
  if (!matchArgs(c.function(decl), args, argOf, false, Span())) return false;
  Attempt attempt(*this);
  score.assign(args.size(), 0);
  return OverloadTrial(*this, decl, args).fits(argOf, score) && !attempt.hasMessages();
}

} // namespace melix::check
