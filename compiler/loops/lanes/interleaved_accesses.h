#pragma once
// Accesses of lanes to rows of a constant length, a row for each lane, one row behind the other: what lies
// apart for one access lies side by side for all of a group.
//
//   for points vector 16 %0, %n { (%i)
//     %x = load %v[%i*%3 + %0*%1] : f32      a group of columns 0 and 2 of rows of 3: three registers hold
//     %z = load %v[%i*%3 + %2*%1] : f32      the rows of 16 lanes
//     … }
//
// Loads of a group are done where its first one stands, stores where its last one does: nothing between them
// reaches their memory. Stores of a group are to all columns.

#include "loops/analysis/stride_analysis.h"

namespace melix::loops {

struct LaneGroup {
  struct Member {
    StmtId stmt;
    uint32_t column; ///< from the lowest one of the group
  };
  StmtKind kind;               ///< load or store
  uint32_t row = 0;            ///< elements from lane to lane
  std::vector<Member> members; ///< in their order
  int64_t before = 0;          ///< bytes from the lowest column to the place of the first member

  /// Where it is done.
  StmtId place() const { return kind == StmtKind::Load ? members.front().stmt : members.back().stmt; }
  /// Elements from the lowest to the highest column.
  uint32_t span() const;
};

/// The groups among the statements of a region, not those in it. Its scalar ops are told to `neighbours`.
std::vector<LaneGroup> laneGroups(const Module& module, const Function& fn, RegionId region,
                                  Neighbours& neighbours);

/// Registers put together or apart for a group: how many times two become one.
uint32_t shufflesOf(const LaneGroup& group);

} // namespace melix::loops
