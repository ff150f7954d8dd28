#pragma once
// Learns something of every value of a function, from operands to results and around loops, until nothing
// changes: all ops once, in order, then those again that use what changed. So the cost is that of the
// changes, however deep loops stand in each other.

#include "core/ir/flow.h"

#include <deque>
#include <memory>
#include <set>
#include <unordered_map>

namespace melix::transforms {

/// What an analysis does; it calls `Propagation::changed` for each value of which it learns something.
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

  /// To the fixed point, from what is new since it ran before.
  void run(ValueAnalysis& analysis);
  void changed(core::ValueId v);
  /// The op is to be looked at again, for a reason outside of the function.
  void again(core::OpId op);

private:
  /// Numbers by key, those of a key together.
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

/// Analyses that look into calls: a `Summary` for each function and what is known of its arguments, found by
/// a `Walk` over it. Where a summary changes, its callers look at their calls again; summaries only grow, so
/// this ends for recursive functions too.
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
        open_[caller].walk->again(call);
        wait(*caller);
      }
    }
    for (auto& [summary, open] : open_) summary->done = true;
    open_.clear();
  }
  /// A walk over `caller` used what is known of `callee` so far.
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
