#pragma once
// Propagates facts about every value of a function, from operands to results and around loops, to a fixed
// point. All ops are visited once, in order, then again the ops that use a changed value. So the cost is
// proportional to the changes, however deeply loops are nested.

#include "core/ir/flow.h"

#include <deque>
#include <memory>
#include <set>
#include <unordered_map>

namespace melix::transforms {

/// The transfer functions of an analysis. They call `Propagation::changed` for each value with a new fact.
class ValueAnalysis {
public:
  virtual ~ValueAnalysis() = default;
  virtual void transfer(core::OpId op) = 0; ///< of an op without regions
  virtual void flow(const core::FlowEdge& edge) = 0;
};

/// Whether conditions of `while` are looked at: they decide, and give no value.
enum class Conditions : uint8_t { Skipped, Followed };

class Propagation {
public:
  Propagation(const core::Function& f, Conditions conditions);

  /// To the fixed point, from the changes since the last run.
  void run(ValueAnalysis& analysis);
  void changed(core::ValueId v);
  /// The op is to be looked at again, for a reason outside of the function.
  void rerun(core::OpId op);

private:
  /// Numbers by key; numbers of one key are adjacent.
  struct Table {
    std::vector<uint32_t> first, numbers;
    std::span<const uint32_t> of(uint32_t key) const {
      return std::span(numbers).subspan(first[key], first[key + 1] - first[key]);
    }
  };
  static Table tabulate(size_t keys, const std::vector<std::pair<uint32_t, uint32_t>>& entries);
  void collect(core::RegionId region, std::vector<std::pair<uint32_t, uint32_t>>& users);
  void sweep(core::RegionId region, ValueAnalysis& analysis);
  std::span<const core::RegionId> regionsOf(const core::Op& op) const;

  const core::Function& f_;
  const Conditions conditions_;
  std::vector<core::FlowEdge> edges_;
  std::vector<core::Places> edgesOf_; ///< by op
  Table users_, leaving_;             ///< by value: ops without regions that use it, edges from it
  std::deque<core::ValueId> values_;
  std::deque<core::OpId> ops_;
  std::vector<bool> valueWaits_, opWaits_;
  bool swept_ = false, around_ = false;
};

/// Interprocedural analyses: a `Summary` for each function and the facts about its arguments, found by a
/// `Walk` over it. When a summary changes, its callers visit their calls again. Summaries only grow, so this
/// ends for recursive functions too.
template <class Summary, class Walk>
class CallPropagation {
public:
  /// To the fixed point of `root` and of all that it asks for; `make(Summary&)` makes a walk. Sets `done`.
  template <class Make>
  void run(Summary& root, Make make) {
    wait(root);
    while (!queue_.empty()) {
      Summary& summary = *queue_.back();
      queue_.pop_back();
      Open& open = open_[&summary];
      open.waits = false;
      if (!open.walk) open.walk = make(summary);
      if (!open.walk->run()) continue;
      for (auto [caller, call] : open.callers) {
        open_[caller].walk->rerun(call);
        wait(*caller);
      }
    }
    for (auto& [summary, open] : open_) summary->done = true;
    open_.clear();
  }
  /// A walk over `caller` used the facts found so far about `callee`.
  void use(Summary& callee, Summary& caller, core::OpId call) {
    if (callee.done) return;
    Open& open = open_[&callee];
    open.callers.emplace(&caller, call);
    if (!open.walk) wait(callee);
  }

private:
  struct Open {
    std::unique_ptr<Walk> walk;
    std::set<std::pair<Summary*, core::OpId>> callers;
    bool waits = false;
  };
  void wait(Summary& summary) {
    if (!std::exchange(open_[&summary].waits, true)) queue_.push_back(&summary);
  }
  std::unordered_map<Summary*, Open> open_;
  std::vector<Summary*> queue_;
};

} // namespace melix::transforms
