#include "transforms/walks/read_through_update.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Whether a place is one that was updated, if that is asked, and the indices that it has there.
ValueId within(Builder& b, const Overlap& o, Place& rest) {
  ValueId all;
  auto require = [&](ValueId more) { all = all.valid() ? b.binary(OpKind::And, all, more) : more; };
  for (auto [there, here] : o.equal) require(b.compare(ops::CmpKind::Eq, there, here));
  auto index = rest.indices.begin();
  for (const Overlap::OfSlice& s : o.inSlices) {
    index = std::find(index, rest.indices.end(), ValueId());
    *index = b.binary(OpKind::Sub, s.index, s.start);
    require(b.compare(ops::CmpKind::Ge, *index, b.integer(0)));
    if (s.step != 1) {
      require(b.compare(ops::CmpKind::Eq, b.binary(OpKind::IRem, *index, b.integer(s.step)), b.integer(0)));
      *index = b.binary(OpKind::IDiv, *index, b.integer(s.step));
    }
    require(b.compare(ops::CmpKind::Lt, *index, b.dimValue(s.length)));
  }
  return all;
}

} // namespace

ValueId readThroughUpdate(Builder& b, OpKind update, const Overlap& o, const ReadsAround& reads) {
  if (o.kind == Overlap::Disjoint) return reads.before(b);
  Place rest = o.rest;
  const ValueId condition = within(b, o, rest);
  const bool adds = update == OpKind::AddAt;
  const ValueId before = adds || condition.valid() ? reads.before(b) : ValueId();
  auto put = [&](Builder& at) {
    const ValueId now = reads.put(at, rest);
    return adds ? at.binary(OpKind::Add, before, now) : now;
  };
  if (o.inSlices.empty()) {
    const ValueId now = put(b);
    return condition.valid() ? b.select(condition, now, before) : now;
  }
  Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion()); // what was put there has no other elements
  yes.yield({put(yes)});
  no.yield({before});
  Op branch = Builder::simple(OpKind::If, {condition});
  branch.regions = {yes.region, no.region};
  return b.one(std::move(branch), b.typeOf(before));
}

} // namespace melix::transforms
