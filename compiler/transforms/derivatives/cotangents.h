#pragma once
// Keeps the cotangents of values of g in f_bwd: where they stand, how they begin, how summands are added to
// them.
//
// Cotangents are symbolic: absent means zero. A scope that touches the cotangent of an outer value takes it
// over: branches yield it, loops carry it, nests hold an accumulator for it (arrays) or sum it (scalars).

#include "transforms/derivatives/backward_values.h"

#include <optional>

namespace melix::transforms {

class Cotangents : protected KnownValues {
protected:
  using KnownValues::KnownValues;

  void makeWaiting(Scope& s, ValueId v);
  void addBut(ValueId v, ValueId c, Hole hole);
  void closeHoles(Scope& s, ValueId v);
  ValueId& slot(Scope& s, ValueId v);
  ValueId& open(Scope& s, ValueId v);
  static ValueId readOf(const Scope& s, ValueId v);
  ValueId cotangent(ValueId v);
  ValueId zeroFor(Scope& s, ValueId v);
  void begin(ValueId v);
  bool begun(ValueId v) const;
  ValueId zeroFollowing(Scope& s, TypeId t, const JvpCompanion::Followed& followed);
  ValueId realCotangent(ValueId v);
  void addTo(ValueId v, ValueId c);
  void addAt(ValueId v, Path p, std::vector<ValueId> indices, ValueId c);
  ValueId reader(ValueId v) const;
  ValueId opened(Scope& s, ValueId pack);
  /// A match on a tangent takes the payload of one case out of it.
  struct Projection {
    uint32_t theCase;
    std::vector<uint32_t> fields; ///< by result
  };
  std::optional<Projection> projected(const Op& o) const;

  std::unordered_map<ValueId, ValueId> readers_;
  /// Values for whose cotangents it is recorded whether anything read them: infinite slopes may follow.
  std::unordered_set<ValueId> steep_;
  ValueId read_; ///< of the results of the current op: whether anything read them; none if it did

private:
  ValueId& current(Scope& s, ValueId v);
  void noteRead(ValueId v, bool begun);
  bool fill(Scope& s, const Add& add, ValueId v);
  ValueId zeroOf(Scope& s, const Hole& hole);
  static ValueId addAll(Scope& s, ValueId c, std::vector<Add> adds);
  ValueId sumOf(Scope& s, ValueId v, std::vector<uint32_t> path, TypeId t, std::vector<Add> adds);
  ValueId zeroOfPart(Scope& s, ValueId v, const std::vector<uint32_t>& path, TypeId t);
  void beginAt(Scope& s, ValueId v);
  void splitParts(Scope& s, const Op& o, ValueId whole);
  std::vector<ValueId> payloadOf(Scope& s, const Op& o, ValueId whole);
  const Op* sizing(ValueId v, OpKind kind) const;
  ValueId zeroOfSize(Scope& s, TypeId t, const JvpCompanion::Followed& followed);
  const Op* readAt(ValueId v) const;
};

} // namespace melix::transforms
