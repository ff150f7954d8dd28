#include "check/signatures/key_reuse.h"

#include "check/instances/instances.h"
#include "check/signatures/lookup.h"
#include "check/tree/typed_walk.h"

#include <algorithm>

namespace melix::check {

namespace {

/// The functions of the prelude that everything is drawn with; they use their first argument up.
constexpr std::string_view samplers[] = {"uniform_at", "normal_at", "below_at"};

/// Follows control through the tree of an instance with the keys used up so far.
class KeyUses {
public:
  KeyUses(Checker& checker, InstanceId id)
      : c_(checker), types_(checker.types), instance_(checker.program_.instance(id)),
        usedUp_(instance_.params.size()) {
    key_ = typeDecl(c_, c_.modules.prelude(), types_.names.intern("Key"));
    DeclId decl = c_.instances.info(id).key.decl;
    isLibrary_ = decl && c_.modules.decl(decl).module == c_.modules.prelude();
  }

  std::vector<bool> run() {
    bool any = std::any_of(instance_.locals.begin(), instance_.locals.end(),
                           [&](const Local& l) { return isKey(l.type); });
    if (any && instance_.body.valid()) walk(instance_.body);
    return usedUp_;
  }

private:
  /// The keys used up, and where; none where control does not get.
  using State = std::optional<std::map<LocalId, Span>>;

  bool isKey(TypeId type) {
    return types_.kind(type) == TypeKind::Struct &&
           DeclId(types_.recordInfo(types_[type].record).declaration) == key_;
  }

  static void join(State& into, const State& other) {
    if (!into)
      into = other;
    else if (other)
      into->insert(other->begin(), other->end());
  }

  void walk(NodeId id) {
    const Node& node = instance_.nodes[id];
    switch (node.kind) {
    case NodeKind::If: branches({node.children.begin() + 1, node.children.end()}, node.children[0]); break;
    case NodeKind::ShortAnd:
    case NodeKind::ShortOr: branches({node.children[1]}, node.children[0]); break;
    case NodeKind::Match: match(node); break;
    case NodeKind::For: {
      std::for_each(node.children.begin(), node.children.end() - 1, [&](NodeId child) { walk(child); });
      rounds({node.children.back()}, node.as<For>().loop, node);
      break;
    }
    case NodeKind::While:
    case NodeKind::Loop: rounds(node.children, node.as<Loop>().loop, node); break;
    case NodeKind::Nest:
    case NodeKind::Scatter: rounds(node.children, UINT32_MAX, node); break;
    case NodeKind::Break:
    case NodeKind::Continue:
      children(node);
      join((node.kind == NodeKind::Break ? left_ : next_)[node.as<Loop>().loop], now_);
      break;
    case NodeKind::Let: let(node); break;
    default: children(node); break;
    }
    if (types_.kind(node.type) == TypeKind::Never || node.kind == NodeKind::Return) now_.reset();
  }

  /// Parts that are all run, in this order.
  void children(const Node& node) {
    struct Parts : NodeParts<const Node> {
      KeyUses& uses;
      const Node& node;
      Parts(KeyUses& keys, const Node& of) : uses(keys), node(of) {}
      void child(NodeId n) override { uses.walk(n); }
      void defines(LocalId local) override { uses.forget(local); }
      void binds(PatternId pattern) override { uses.forgetAll(pattern); }
      void calls(const CallTarget& target) override {
        if (node.kind != NodeKind::ToClosure) uses.call(node, target);
      }
      void place(const Place& place) override {
        if (place.steps.empty()) uses.forget(place.root);
      }
    } parts(*this, node);
    tellParts(node, parts);
  }

  /// One of the arms, or none of them if there is only one.
  void branches(const std::vector<NodeId>& arms, NodeId condition) {
    walk(condition);
    const State before = now_;
    State after;
    if (arms.size() == 1) after = before;
    for (NodeId arm : arms) {
      now_ = before;
      walk(arm);
      join(after, now_);
    }
    now_ = after;
  }

  void match(const Node& node) {
    const Arms& arms = node.as<Arms>();
    walk(node.children[0]);
    for (const Place& place : arms.places) forEachIndex(place.steps, [this](NodeId index) { walk(index); });
    const State before = now_;
    State after;
    for (const Arm& arm : arms.arms) {
      now_ = before;
      forgetAll(arm.pattern);
      if (arm.guard.valid()) walk(arm.guard);
      walk(arm.body);
      join(after, now_);
    }
    now_ = after;
  }

  /// Two rounds: the second meets what the first used up.
  void rounds(const std::vector<NodeId>& parts, LoopId loop, const Node& node) {
    State after = node.kind == NodeKind::Loop ? State() : now_;
    const Span outer = std::exchange(around_, node.span);
    for (int round = 0; round < 2; ++round) {
      for (NodeId part : parts) walk(part);
      join(now_, next_[loop]);
    }
    around_ = outer;
    if (node.kind != NodeKind::Loop) join(after, now_);
    join(after, left_[loop]);
    left_.erase(loop), next_.erase(loop);
    now_ = after;
  }

  void let(const Node& node) {
    walk(node.children[0]);
    if (node.children.size() > 1) {
      const State fits = now_;
      walk(node.children[1]);
      now_ = fits;
    }
    forgetAll(node.as<PatternRef>().pattern);
    const Pattern& pattern = instance_.patterns[node.as<PatternRef>().pattern];
    const Node& value = instance_.nodes[node.children[0]];
    if (pattern.kind == PatternKind::Bind && value.kind == NodeKind::Local)
      sameAs_[pattern.local] = root(value.as<LocalRef>().local);
  }

  void forgetAll(PatternId id) {
    forEachPattern(instance_, id, [this](const Pattern& p) {
      if (p.local) forget(p.local);
    });
  }

  void forget(LocalId local) {
    if (now_) now_->erase(local);
    sameAs_.erase(local);
    changed_.insert(local);
  }

  LocalId root(LocalId local) {
    auto same = sameAs_.find(local);
    return same == sameAs_.end() ? local : same->second;
  }

  void call(const Node& node, const CallTarget& target) {
    const std::vector<bool> used = usedBy(target.instance);
    std::vector<NodeId> args = node.children;
    if (target.known) { // the captures are the first parameters
      const Node& callee = instance_.nodes[args[0]];
      std::vector<NodeId> captures(types_[callee.type].parts.size());
      if (callee.kind == NodeKind::Known) captures = callee.children;
      args.erase(args.begin());
      args.insert(args.begin(), captures.begin(), captures.end());
    }
    for (const InoutArg& inout : target.inouts)
      args.insert(args.begin() + std::min<ptrdiff_t>(inout.param, std::ssize(args)), NodeId::none());
    for (size_t k = 0; k < used.size() && k < args.size(); ++k)
      if (used[k] && args[k].valid() && instance_.nodes[args[k]].kind == NodeKind::Local)
        useUp(args[k], node.span);
  }

  std::vector<bool> usedBy(InstanceId callee) {
    if (!callee) return {}; // a call that was given up
    if (DeclId decl = c_.instances.info(callee).key.decl;
        decl && c_.modules.decl(decl).module == c_.modules.prelude())
      for (std::string_view sampler : samplers)
        if (types_.names.text(c_.modules.decl(decl).name) == sampler) return {true};
    return c_.instances.info(callee).usesUpKeys;
  }

  void useUp(NodeId arg, Span call) {
    LocalId key = root(instance_.nodes[arg].as<LocalRef>().local);
    auto param = std::find(instance_.params.begin(), instance_.params.end(), key);
    if (param != instance_.params.end() && !changed_.contains(key))
      usedUp_[static_cast<size_t>(param - instance_.params.begin())] = true;
    if (!now_) return;
    auto [before, isFirst] = now_->emplace(key, call);
    if (!isFirst && !isLibrary_ && told_.insert(key).second)
      warn(instance_.locals[key], before->second, call);
  }

  void warn(const Local& key, Span before, Span call) {
    const bool isTold = c_.sink.isTold( // at another instance
        [&](const Diagnostic& d) { return d.id == DiagId::KeyReused && d.span == call; });
    if (isTold) return;
    Diagnostic& d = c_.sink.report(DiagId::KeyReused, call, types_.names.text(key.name));
    if (before == call)
      d.notes.push_back({around_, "the key is made outside of this: each round draws the same numbers"});
    else
      d.notes.push_back({before, "used up here"});
  }

  Checker& c_;
  TypeStore& types_;
  const Instance& instance_;
  DeclId key_;
  bool isLibrary_ = false;
  std::vector<bool> usedUp_;
  State now_{std::in_place};
  std::map<LoopId, State> left_, next_; ///< at `break`, at `continue`
  std::map<LocalId, LocalId> sameAs_;   ///< a variable that is a copy of another
  std::set<LocalId> changed_, told_;
  Span around_; ///< the loop at hand
};

} // namespace

std::vector<bool> checkKeys(Checker& checker, InstanceId id) { return KeyUses(checker, id).run(); }

} // namespace melix::check
