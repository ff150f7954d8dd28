#pragma once
// Finds groups of interleaved accesses: each lane accesses its own row of constant length, and the rows are
// contiguous. One access of the group is strided, the group as a whole is contiguous.
//
//   for independent vector 16 %0, %n { (%i)
//     %x = load %v[%i*%3 + %0*%1] : f32      a group of columns 0 and 2 of rows of 3: three registers hold
//     %z = load %v[%i*%3 + %2*%1] : f32      the rows of 16 lanes
//     … }
//
// The loads of a group are done at its first load, the stores at its last store: no statement in between
// accesses their memory. Stores of a group cover all columns.

#include "loops/analysis/stride_analysis.h"

namespace melix::loops {

struct LaneGroup {
  struct Member {
    StmtId stmt;
    uint32_t column; ///< from the lowest one of the group
  };
  StmtKind kind;               ///< load or store
  uint32_t row = 0;            ///< elements from lane to lane
  std::vector<Member> members; ///< in program order
  int64_t before = 0;          ///< bytes from the lowest column to the place of the first member

  /// The statement at which the group is done.
  StmtId place() const { return kind == StmtKind::Load ? members.front().stmt : members.back().stmt; }
  /// Elements from the lowest to the highest column.
  uint32_t span() const;
};

/// The groups among the statements of a region, without nested ones.
std::vector<LaneGroup> laneGroups(const Module& module, const Function& fn, RegionId region,
                                  LaneStrides& strides);

/// Shuffles that interleave or deinterleave a group: how often two registers become one.
uint32_t shufflesOf(const LaneGroup& group);

} // namespace melix::loops
