#pragma once
// Checks an expression of a declaration where it is used.

#include "check/body/body.h"

#include <utility>

namespace melix::check {

/// While it lives, the body is at home in another tree and module. Names around the place of use are not
/// seen, except names from `visible` on in its scope.
class Elsewhere {
public:
  Elsewhere(Body& body, const syntax::Ast& tree, ModuleId module, TypeEnv env, size_t visible)
      : body_(body), tree_(std::exchange(body.ast.at, &tree)), module_(std::exchange(body.module, module)),
        env_(body.env.exchange(std::move(env))), floor_(body.scopeFloor.exchange(visible)) {}
  ~Elsewhere() {
    body_.ast.at = tree_;
    body_.module = module_;
    body_.env = std::move(env_);
    body_.scopeFloor = floor_;
  }
  Elsewhere(const Elsewhere&) = delete;

private:
  Body& body_;
  const syntax::Ast* tree_;
  ModuleId module_;
  TypeEnv env_;
  size_t floor_;
};

} // namespace melix::check
