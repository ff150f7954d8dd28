#include "fuzz/programs/shrink.h"

#include "fuzz/programs/context.h"
#include "fuzz/programs/write.h"
#include "fuzz/run.h"

#include <algorithm>
#include <chrono>

namespace melix::fuzz::programs {

namespace {

using Clock = std::chrono::steady_clock;

bool isExpression(const Node& n) {
  switch (n.form) {
  case Form::Arm:
  case Form::Range:
  case Form::Walk:
  case Form::Slice:
  case Form::Whole:
  case Form::FromEnd:
  case Form::Inout:
  case Form::Text: return false;
  default: return n.type && n.type->kind != Kind::Unit;
  }
}

/// Sizes may not be known where the node stands; types with named ones are left alone.
bool closed(const Type& t) {
  for (const std::string& d : t->dims)
    if (!isNumeral(d)) return false;
  return std::all_of(t->parts.begin(), t->parts.end(), closed);
}

std::string nameOfItem(const std::shared_ptr<Function>& f) { return f->name + "("; }
std::string nameOfItem(const Record& r) { return r.name; }
std::string nameOfItem(const Choice& e) { return e.name; }

class Shrinking {
public:
  Shrinking(Case from, std::string kind, double seconds)
      : best_(std::move(from)), kind_(std::move(kind)),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  Case run() {
    bool smaller = true;
    while (smaller && !late()) smaller = statements() | declarations() | expressions();
    return best_;
  }

private:
  bool late() const { return Clock::now() > end_; }

  /// Whether the finding persists; then the changed program is the best so far.
  bool keep(Program changed) {
    if (late()) return false;
    stepGoesOn();
    Case next = best_;
    next.program = std::move(changed);
    Checked checked;
    std::optional<Finding> found = check(next, checked);
    if (!found || found->kind != kind_) return false;
    best_ = std::move(next);
    return true;
  }

  /// The blocks of a program, in a fixed order.
  static std::vector<NodePtr> nodes(const Program& p) {
    std::vector<NodePtr> out;
    walk(p, [&](const NodePtr& n) { out.push_back(n); });
    return out;
  }

  /// Takes statements away: many at once first.
  bool statements() {
    bool any = false;
    size_t blocks = nodes(best_.program).size();
    for (size_t at = 0; at < blocks; ++at) {
      std::vector<NodePtr> all = nodes(best_.program);
      if (at >= all.size()) break;
      if (all[at]->form != Form::Block) continue;
      size_t count = all[at]->kids.size() - (all[at]->flag ? 1 : 0);
      for (size_t chunk = std::max<size_t>(count / 2, 1); chunk > 0; chunk /= 2)
        for (size_t first = count; first > 0;) {
          first = first > chunk ? first - chunk : 0;
          any = without(at, first, chunk) || any;
          if (late()) return any;
        }
    }
    return any;
  }

  bool without(size_t at, size_t first, size_t chunk) {
    Program p = clone(best_.program);
    Node& block = *nodes(p)[at];
    size_t count = block.kids.size() - (block.flag ? 1 : 0);
    if (first >= count) return false;
    size_t end = std::min(first + chunk, count);
    auto begin = block.kids.begin();
    block.kids.erase(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end));
    return keep(std::move(p));
  }

  template <class List>
  bool withoutOne(List Program::* list) {
    bool any = false;
    for (size_t k = (best_.program.*list).size(); k-- > 0;) {
      Program p = clone(best_.program);
      std::string name = nameOfItem((p.*list)[k]);
      (p.*list).erase((p.*list).begin() + static_cast<std::ptrdiff_t>(k));
      if (write(p).find(name) != std::string::npos) continue; // still named
      any = keep(std::move(p)) || any;
    }
    return any;
  }

  bool declarations() {
    return withoutOne(&Program::functions) | withoutOne(&Program::structs) | withoutOne(&Program::enums);
  }

  /// A node in place of another; the program is cloned, so both are found again by number.
  bool replace(size_t at, const std::function<NodePtr(const NodePtr&)>& by) {
    Program p = clone(best_.program);
    std::vector<NodePtr> all = nodes(p);
    if (at >= all.size()) return false;
    NodePtr fresh = by(all[at]);
    if (!fresh) return false;
    *all[at] = Node(*fresh);
    return keep(std::move(p));
  }

  bool expressions() {
    bool any = false;
    for (size_t at = 0; at < nodes(best_.program).size() && !late(); ++at) any = simpler(at) || any;
    return any;
  }

  bool simpler(size_t at) {
    NodePtr n = nodes(best_.program)[at];
    if (n->form == Form::If || n->form == Form::For || n->form == Form::While || n->form == Form::Match) {
      if (n->type->kind == Kind::Unit && unwrapped(at, *n)) return true;
    }
    if (!isExpression(*n) || n->kids.empty() || n->form == Form::Block) return false;
    if (closed(n->type) && n->type->kind != Kind::Variable && replace(at, [&](const NodePtr& of) {
          return simplest(best_.program, of->type, [](int64_t) { return 1; });
        }))
      return true;
    for (size_t k = 0; k < n->kids.size(); ++k) {
      const NodePtr& kid = n->kids[k];
      bool value = kid && kid->form == Form::Block && kid->flag && kid->kids.size() == 1;
      const NodePtr& inner = value ? kid->kids[0] : kid;
      if (!inner || !isExpression(*inner) || !same(inner->type, n->type)) continue;
      if (replace(at, [&](const NodePtr& of) { return value ? of->kids[k]->kids[0] : of->kids[k]; }))
        return true;
    }
    return false;
  }

  /// The body of a statement in place of the statement.
  bool unwrapped(size_t at, const Node& n) {
    for (size_t k = n.kids.size(); k-- > 1;) {
      if (n.kids[k]->form != Form::Block) continue;
      if (replace(at, [&](const NodePtr& of) { return of->kids[k]; })) return true;
    }
    return false;
  }

  Case best_;
  std::string kind_;
  Clock::time_point end_;
};

} // namespace

Case shrink(const Case& from, const Finding& finding, double seconds) {
  Case start = from;
  auto about = [&](const char* what) { return finding.kind.find(what) != std::string::npos; };
  start.options.compiled =
      !about("evaluator") && !about("before the passes") && !about("derivatives") && !about("refused");
  start.options.executable = from.options.executable && about("executable");
  return Shrinking(std::move(start), finding.kind, seconds).run();
}

} // namespace melix::fuzz::programs
