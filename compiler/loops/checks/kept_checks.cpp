#include "loops/checks/kept_checks.h"

namespace melix::loops {

KeptChecks::Places KeptChecks::placesOf(const Module& module) {
  Places out;
  auto region = [&](auto& self, const Function& fn, RegionId r) -> void {
    for (StmtId id : fn.regions[r].stmts) {
      const Stmt& s = fn.stmts[id];
      if (s.kind == StmtKind::Check || s.kind == StmtKind::Panic) {
        const std::string text = s.kind == StmtKind::Check ? s.as<Message>().text : "panic";
        out.try_emplace({s.kind, s.loc, text}, fn.name);
      }
      for (RegionId inner : s.regions) self(self, fn, inner);
    }
  };
  for (const Function& fn : module.functions) region(region, fn, fn.body);
  return out;
}

std::string KeptChecks::after(const Module& module) {
  Places now = placesOf(module);
  std::string lost;
  for (const auto& [key, function] : places_)
    if (lost.empty() && !now.contains(key)) lost = "`" + std::get<2>(key) + "` of `" + function + "` is gone";
  places_ = std::move(now);
  return lost;
}

} // namespace melix::loops
