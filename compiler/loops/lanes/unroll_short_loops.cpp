#include "loops/lanes/unroll_short_loops.h"

#include "core/analysis/evaluate.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <map>

namespace melix::loops {
namespace {

constexpr uint64_t mostIterations = 8,
                   tooFewForLanes = 8;              ///< of a loop that is written out, and too few for lanes
constexpr unsigned mostStmts = 256;                 ///< of all that is written
constexpr uint64_t mostFrameBytesOfIteration = 256; ///< of what the frame keeps for an iteration

bool isShort(const Function& fn, const Stmt& loop) {
  return constantTripCount(fn, loop).value_or(mostIterations + 1) <= mostIterations;
}

/// Statements that do something, those of short loops as often as these iterate.
double lengthOf(const Function& fn, RegionId r) {
  double length = 0;
  for (StmtId id : fn.regions[r].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind != StmtKind::Const) ++length;
    const double tripCount =
        s.kind == StmtKind::For && isShort(fn, s) ? static_cast<double>(*constantTripCount(fn, s)) : 1;
    for (RegionId inner : s.regions) length += tripCount * lengthOf(fn, inner);
  }
  return length;
}

bool isWrittenOut(const Function& fn, const Stmt& loop, double most);

/// Whether a loop is in there that stays one.
bool keepsLoop(const Function& fn, RegionId r, double most) {
  return std::ranges::any_of(fn.regions[r].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::While) return true;
    if (s.kind == StmtKind::For) return !isWrittenOut(fn, s, most);
    return std::ranges::any_of(s.regions, [&](RegionId inner) { return keepsLoop(fn, inner, most); });
  });
}

/// A loop around one that stays is what passes over several loops look for.
bool isWrittenOut(const Function& fn, const Stmt& loop, double most) {
  return isShort(fn, loop) && !keepsLoop(fn, loop.regions[0], most) &&
         static_cast<double>(*constantTripCount(fn, loop)) * lengthOf(fn, loop.regions[0]) <= most;
}

/// What memory of the frame, none of it shared, holds: the value at each byte where one begins.
struct Array {
  uint64_t bytes;
  unsigned depth; ///< of the region where it stands
  std::map<uint64_t, ValueId> values;
};

class LoopUnroller {
public:
  LoopUnroller(Function& fn, StmtId loop, double most) : b_(fn), loop_(fn.stmts[loop]), most_(most) {
    b_.loc = loop_.loc;
  }

  std::optional<RegionId> run() {
    const std::vector<ValueId> params = b_.fn.regions[loop_.regions[0]].params;
    const RegionId made = b_.begin(typesOf(params));
    rename(params, std::vector(b_.params(made)));
    std::vector<ValueId> yields = inner(loop_.regions[0]);
    b_.end(std::move(yields));
    if (failed_) return std::nullopt;
    return made;
  }

private:
  /// What it yields.
  std::vector<ValueId> region(RegionId r) {
    const std::vector<StmtId> stmts = b_.fn.regions[r].stmts;
    for (size_t k = 0; k + 1 < stmts.size() && !failed_; ++k) statement(stmts[k]);
    return copies_.of(b_.fn.stmts[stmts.back()].operands);
  }

  void fail() { failed_ = true; }

  void statement(StmtId id) {
    const Stmt s = b_.fn.stmts[id]; // statements are made on the way
    b_.loc = s.loc;
    switch (s.kind) {
    case StmtKind::For: return loop(s);
    case StmtKind::If: return branch(s);
    case StmtKind::Const:
      return copies_.set(s.results[0], b_.constant(b_.fn.typeOf(s.results[0]), s.as<uint64_t>()));
    case StmtKind::Scalar: return scalar(id, s);
    case StmtKind::Scratch: return array(s, s.as<uint64_t>());
    case StmtKind::FrameArray: return array(s, s.as<AllocAttr>().bytes);
    case StmtKind::Load: return load(id, s);
    case StmtKind::Store: return store(id, s);
    case StmtKind::CopyBytes: return copyBytes(s);
    case StmtKind::KeepAlive:
      if (arrayOf(s.operands[0])) return;
      return same(id);
    case StmtKind::AddressOf: return address(s);
    default: return same(id);
    }
  }

  /// As it is; nothing in it may use memory of the frame.
  void same(StmtId id) {
    if (++made_ > mostStmts || uses(id)) return fail();
    clone(b_, id, copies_);
  }
  bool uses(StmtId id) const {
    const Stmt& s = b_.fn.stmts[id];
    return areOfFrame(s.operands) || std::ranges::any_of(s.regions, [&](RegionId r) {
             return std::ranges::any_of(b_.fn.regions[r].stmts, [&](StmtId inner) { return uses(inner); });
           });
  }

  /// Whether some are memory of the frame, or where some of it is copied to.
  bool areOfFrame(const std::vector<ValueId>& vs) const {
    return std::ranges::any_of(
        vs, [&](ValueId v) { return arrayOf(v) || parts_.contains(v) || ends_.contains(v); });
  }

  void loop(const Stmt& s) {
    const std::vector<ValueId> operands = copies_.of(s.operands);
    if (!isWrittenOut(b_.fn, s, most_)) return keepLoop(s, operands);
    const std::vector<ValueId> params = b_.fn.regions[s.regions[0]].params;
    std::vector<ValueId> carried(operands.begin() + 2, operands.end());
    const uint64_t tripCount = *constantTripCount(b_.fn, s);
    for (uint64_t k = 0; k < tripCount && !failed_; ++k) {
      copies_.set(params[0], indexOf(operands[0], k));
      for (size_t c = 0; c < carried.size(); ++c) copies_.set(params[c + 1], carried[c]);
      carried = region(s.regions[0]);
    }
    for (size_t c = 0; c < carried.size(); ++c) copies_.set(s.results[c], carried[c]);
  }
  ValueId indexOf(ValueId first, uint64_t k) {
    if (const uint64_t* known = b_.asConstant(first)) return b_.constant(indexType, *known + k);
    return k == 0 ? first : b_.arith(core::OpKind::Add, first, b_.constant(indexType, k));
  }

  void keepLoop(const Stmt& s, const std::vector<ValueId>& operands) {
    if (areOfFrame(s.operands)) return fail();
    const std::vector<ValueId> params = b_.fn.regions[s.regions[0]].params;
    const RegionId made = b_.begin(typesOf(params));
    rename(params, std::vector(b_.params(made)));
    std::vector<ValueId> yields = inner(s.regions[0]);
    const StmtId loop = b_.stmt(s.kind, operands, typesOf(s.results), s.attr, {b_.end(std::move(yields))});
    rename(s.results, std::vector(b_.results(loop)));
  }

  /// A region of a statement that stays.
  std::vector<ValueId> inner(RegionId r) {
    ++depth_;
    std::vector<ValueId> yields = region(r);
    --depth_;
    if (areOfFrame(yields)) fail();
    return yields;
  }

  std::vector<ValueType> typesOf(const std::vector<ValueId>& vs) const {
    std::vector<ValueType> types;
    for (ValueId v : vs) types.push_back(b_.fn.typeOf(v));
    return types;
  }
  void rename(const std::vector<ValueId>& originals, const std::vector<ValueId>& made) {
    for (size_t k = 0; k < made.size(); ++k) {
      copies_.set(originals[k], made[k]);
      b_.fn.values[made[k]].hint = b_.fn.values[originals[k]].hint;
    }
  }

  /// One side, if it is known which; else as it is.
  void branch(const Stmt& s) {
    const uint64_t* on = b_.asConstant(copies_.of(s.operands[0]));
    if (on) {
      const std::vector<ValueId> yields = region(s.regions[*on ? 0 : 1]);
      for (size_t k = 0; k < s.results.size(); ++k) copies_.set(s.results[k], yields[k]);
      return;
    }
    if (areOfFrame(s.operands)) return fail();
    std::vector<RegionId> regions;
    for (RegionId r : s.regions) {
      b_.begin();
      std::vector<ValueId> yields = inner(r);
      regions.push_back(b_.end(std::move(yields)));
    }
    const StmtId made = b_.stmt(StmtKind::If, {copies_.of(s.operands[0])}, typesOf(s.results), {}, regions);
    rename(s.results, std::vector(b_.results(made)));
  }

  void scalar(StmtId id, const Stmt& s) {
    const auto& attr = s.as<ScalarAttr>();
    const ValueType type = b_.fn.typeOf(s.results[0]);
    uint64_t bits[3] = {};
    bool known = s.operands.size() <= 3 && (types::isIntKind(attr.from) || attr.from == TypeKind::Bool);
    for (size_t k = 0; known && k < s.operands.size(); ++k) {
      const uint64_t* c = b_.asConstant(copies_.of(s.operands[k]));
      known = c != nullptr;
      if (c) bits[k] = core::extendedBits(b_.fn.typeOf(s.operands[k]).scalar, *c);
    }
    const core::ScalarFunction f = known ? core::scalarFunction(attr.op, attr.from, attr.index) : nullptr;
    if (!f || attr.op == core::OpKind::Select) return same(id);
    copies_.set(s.results[0], b_.constant(type, core::lowBits(type.scalar, f(bits[0], bits[1], bits[2]))));
  }

  // --- memory of the frame

  void array(const Stmt& s, uint64_t bytes) {
    if (bytes > mostFrameBytesOfIteration) return fail();
    arrays_[s.results[0]] = {bytes, depth_, {}};
  }
  Array* arrayOf(ValueId v) {
    auto found = arrays_.find(copies_.of(v));
    return found == arrays_.end() ? nullptr : &found->second;
  }
  const Array* arrayOf(ValueId v) const { return const_cast<LoopUnroller*>(this)->arrayOf(v); }

  /// Where an access with so many operands lies after its base.
  std::optional<uint64_t> offsetOf(const Stmt& s, size_t operands) const {
    const auto& access = s.as<Access>();
    auto at = static_cast<uint64_t>(access.offset);
    for (size_t k = 1; k + 1 < operands; k += 2) {
      const uint64_t *index = b_.asConstant(copies_.of(s.operands[k])),
                     *stride = b_.asConstant(copies_.of(s.operands[k + 1]));
      if (!index || !stride) return std::nullopt;
      at += *index * *stride * access.elemBytes;
    }
    return at;
  }

  void load(StmtId id, const Stmt& s) {
    Array* array = arrayOf(s.operands[0]);
    if (!array) return same(id);
    const std::optional<uint64_t> at = offsetOf(s, s.operands.size());
    auto found = at ? array->values.find(*at) : array->values.end();
    if (found == array->values.end() || b_.fn.typeOf(found->second) != b_.fn.typeOf(s.results[0]))
      return fail();
    copies_.set(s.results[0], found->second);
  }

  void store(StmtId id, const Stmt& s) {
    Array* array = arrayOf(s.operands[0]);
    if (!array) return same(id);
    const std::optional<uint64_t> at = offsetOf(s, s.operands.size() - 1);
    const ValueId v = copies_.of(s.operands.back());
    const uint64_t bytes = bytesOf(b_.fn.typeOf(v));
    if (!at || array->depth != depth_ || *at + bytes > array->bytes || areOfFrame({v})) return fail();
    // Values that overlap in part are not followed.
    auto next = array->values.lower_bound(*at);
    if (next != array->values.begin()) {
      auto before = std::prev(next);
      if (before->first + bytesOf(b_.fn.typeOf(before->second)) > *at) return fail();
    }
    for (; next != array->values.end() && next->first < *at + bytes; ++next)
      if (next->first != *at || bytesOf(b_.fn.typeOf(next->second)) != bytes) return fail();
    array->values[*at] = v;
  }

  /// An end of a copy: in memory of the frame, the array and how far in it, or elsewhere.
  void address(const Stmt& s) {
    if (!arrayOf(s.operands[0])) {
      Stmt& end = ends_.insert_or_assign(s.results[0], s).first->second;
      end.operands = copies_.of(s.operands);
    } else if (const std::optional<uint64_t> at = offsetOf(s, s.operands.size())) {
      parts_[s.results[0]] = {copies_.of(s.operands[0]), *at};
    } else {
      fail();
    }
  }

  /// All that an array holds, from some place on, to memory that is no such array.
  void copyBytes(const Stmt& s) {
    const auto from = parts_.find(s.operands[1]);
    const auto end = ends_.find(s.operands[0]);
    const uint64_t* bytes = b_.asConstant(copies_.of(s.operands[2]));
    if (from == parts_.end() || end == ends_.end() || !bytes) return fail();
    const Stmt& to = end->second;
    const Array& array = arrays_.at(from->second.first);
    const uint64_t begin = from->second.second;
    uint64_t at = begin;
    for (auto next = array.values.lower_bound(begin); at < begin + *bytes; ++next) {
      if (next == array.values.end() || next->first != at || ++made_ > mostStmts) return fail();
      const ValueType type = b_.fn.typeOf(next->second);
      Access access = to.as<Access>();
      access.elem = type;
      access.offset += static_cast<int64_t>(at - begin);
      std::vector<ValueId> operands = to.operands;
      operands.push_back(next->second);
      b_.stmt(StmtKind::Store, std::move(operands), {}, access);
      at += bytesOf(type);
    }
    if (at != begin + *bytes) fail();
  }

  Builder b_;
  const Stmt loop_;
  const double most_; ///< statements of a loop that is written out
  Copies copies_;
  std::unordered_map<ValueId, Array> arrays_; ///< by the value that is their memory before
  std::unordered_map<ValueId, std::pair<ValueId, uint64_t>> parts_; ///< by addresses in them
  std::unordered_map<ValueId, Stmt> ends_;                          ///< by other addresses
  unsigned made_ = 0;
  unsigned depth_ = 0; ///< of regions of statements that stay
  bool failed_ = false;
};

/// Whether there is nothing in a region that no lane can do; `gains` is set if there is something to write
/// out.
bool isPlainBody(const Function& fn, RegionId r, double most, bool& gains) {
  return std::ranges::all_of(fn.regions[r].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    const bool isFrame = s.kind == StmtKind::Scratch || s.kind == StmtKind::FrameArray;
    gains |= isFrame;
    if (s.kind == StmtKind::For) {
      const auto& attr = s.as<ForAttr>();
      const bool opens = isWrittenOut(fn, s, most);
      if (attr.dependence == Dependence::None || (!opens && attr.vectorWidth > 0)) return false;
      gains |= opens && (!s.results.empty() || attr.vectorWidth == 0);
    }
    const bool can = isFrame || s.kind == StmtKind::CopyBytes || s.kind == StmtKind::Call ||
                     siteOf(s.kind) == SiteKind::Vectorisable;
    return can && std::ranges::all_of(s.regions,
                                      [&](RegionId inner) { return isPlainBody(fn, inner, most, gains); });
  });
}

} // namespace

bool holdsShort(const Function& fn, const Stmt& loop, double length, std::optional<uint64_t> most) {
  if (loop.kind != StmtKind::For || loop.as<ForAttr>().dependence != Dependence::Independent) return false;
  if (constantTripCount(fn, loop).value_or(most.value_or(tooFewForLanes)) < tooFewForLanes) return false;
  bool gains = false;
  return isPlainBody(fn, loop.regions[0], length, gains) && gains;
}

std::optional<RegionId> unrollShortLoop(Function& fn, StmtId loop, double length) {
  return LoopUnroller(fn, loop, length).run();
}

} // namespace melix::loops
