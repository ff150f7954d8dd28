#include "loops/tiles/interchange_reduction_blocks.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/ir/clone.h"
#include "loops/ir/constant_values.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t pieceShift = 10; ///< of a piece of a long chain: what points share of it stays in the cache
constexpr int64_t iterationsOfPiece = int64_t(1) << pieceShift;

/// The sums at a point, and where they are stored.
struct PointSums {
  StmtId blocks;        ///< the loop over blocks, which carries them, or the chain
  bool isChain = false; ///< of one block: what is taken of it are pieces
  StmtId chain; ///< in a loop over blocks, which may come to one: what may be taken by pieces, if anything
  RegionId home;
  std::vector<std::pair<StmtId, RegionId>> stores; ///< by sum; where each stands

  /// Where the first of them stands, alone or in a branch: after the sums, which they use.
  size_t storesFrom(const Function& fn) const {
    const std::vector<StmtId>& stmts = fn.regions[home].stmts;
    const auto first = std::ranges::find_if(stmts, [&](StmtId id) {
      return std::ranges::any_of(stores, [&](const auto& store) {
        return store.first == id || std::ranges::any_of(fn.stmts[id].regions, [&](RegionId r) {
                 return regionsWithin(fn, r).contains(store.second);
               });
      });
    });
    return static_cast<size_t>(first - stmts.begin());
  }
};

class SumsReader {
public:
  explicit SumsReader(const Module& module, const Function& fn) : module_(module), fn_(fn) {
    for (const Stmt& s : fn.stmts)
      for (ValueId v : s.operands) ++uses_[v];
    noteRead(fn.body);
  }

  /// Of loops of points, if sums are all that they store; what they are is added to `out`.
  bool areSums(StmtId loop, std::vector<PointSums>& out) const {
    const Stmt& s = fn_.stmts[loop];
    if (s.kind != StmtKind::For || !s.results.empty() ||
        s.as<ForAttr>().dependence != Dependence::Independent)
      return false;
    if (s.as<ForAttr>().vectorWidth > 0) return areSumsAt(s.regions[0], out);
    bool found = false;
    return std::ranges::all_of(fn_.regions[s.regions[0]].stmts,
                               [&](StmtId id) {
                                 if (fn_.stmts[id].kind != StmtKind::For)
                                   return isPlain(module_, fn_, fn_.stmts[id]);
                                 found = true;
                                 return areSums(id, out);
                               }) &&
           found;
  }

private:
  /// Arrays that something reads, or that are used in another way than to store elements.
  void noteRead(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (size_t k = s.kind == StmtKind::Store ? 1 : 0; k < s.operands.size(); ++k)
        read_.insert(s.operands[k]);
      for (RegionId r : s.regions) noteRead(r);
    }
  }

  bool areSumsAt(RegionId point, std::vector<PointSums>& out) const {
    PointSums sums;
    for (StmtId id : fn_.regions[point].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind != StmtKind::For) continue;
      sums.isChain = isLongChain(s);
      if (sums.blocks.valid() || (!sums.isChain && !isOverBlocks(s))) return false;
      sums.blocks = id;
    }
    if (!sums.blocks.valid()) return false;
    sums.home = point;
    sums.stores.resize(fn_.stmts[sums.blocks].results.size());
    if (!findStores(point, sums) || !arePlacesKnown(sums, sums.isChain)) return false;
    if (!sums.isChain && arePlacesKnown(sums, true)) sums.chain = chainOf(fn_.stmts[sums.blocks]);
    out.push_back(std::move(sums));
    return true;
  }

  /// The loop that makes the terms of a block one by one, if nothing else stands between it and the sums, and
  /// its ends are known by the number of the block.
  StmtId chainOf(const Stmt& blocks) const {
    const std::vector<StmtId>& body = fn_.regions[blocks.regions[0]].stmts;
    const auto isLoop = [this](StmtId id) { return fn_.stmts[id].kind == StmtKind::For; };
    if (std::ranges::count_if(body, isLoop) != 1) return {};
    const StmtId chain = *std::ranges::find_if(body, isLoop);
    const Stmt& s = fn_.stmts[chain];
    const std::vector<ValueId>& totals = fn_.stmts[body.back()].operands;
    if (!isOneByOne(s) || s.results.size() != totals.size()) return {};
    for (size_t k = 0; k < totals.size(); ++k)
      if (std::ranges::count(fn_.stmts[fn_.values[totals[k]].def].operands, s.results[k]) != 1) return {};
    return chain;
  }

  /// Whether a loop from 0 carries numbers along iteration by iteration, without loops in it, and may be too
  /// long for what the points share of it to stay in the cache.
  bool isLongChain(const Stmt& s) const {
    const uint64_t *first = asConstant(fn_, s.operands[0]), *end = asConstant(fn_, s.operands[1]);
    const bool isShort = end && *end <= 2 * iterationsOfPiece;
    return first && *first == 0 && !isShort && isOneByOne(s);
  }
  bool isOneByOne(const Stmt& s) const {
    const auto& attr = s.as<ForAttr>();
    return attr.vectorWidth == 0 && attr.minDistance == 0 && attr.unrollJam == 0 && !attr.polls &&
           !s.results.empty() &&
           std::ranges::all_of(s.results,
                               [this](ValueId v) { return fn_.typeOf(v).cls == ClassKind::Scalar; }) &&
           !anyOf(fn_, s.regions[0], [](const Stmt& in) { return in.kind == StmtKind::For; });
  }
  /// Whether a loop from 0 adds a term to each of the floats that it carries, and a loop in it makes these.
  bool isOverBlocks(const Stmt& s) const {
    const RegionId body = s.regions[0];
    const std::vector<ValueId>& params = fn_.regions[body].params;
    const std::vector<ValueId>& next = fn_.stmts[fn_.regions[body].stmts.back()].operands;
    const uint64_t* first = asConstant(fn_, s.operands[0]);
    if (!first || *first != 0 || s.as<ForAttr>().polls) return false;
    for (size_t k = 0; k < next.size(); ++k)
      if (!addsTo(params[k + 1], next[k]) || !beginsWithNothing(s.operands[k + 2])) return false;
    return !next.empty() && isBare(body) && std::ranges::any_of(fn_.regions[body].stmts, [this](StmtId id) {
      return fn_.stmts[id].kind == StmtKind::For && !fn_.stmts[id].results.empty();
    });
  }
  /// Whether a block that is not there may be computed: it has no terms.
  bool isBare(RegionId body) const {
    return std::ranges::all_of(fn_.regions[body].stmts, [this](StmtId id) {
      const StmtKind kind = fn_.stmts[id].kind;
      return kind == StmtKind::Const || kind == StmtKind::Scalar || kind == StmtKind::For ||
             kind == StmtKind::Yield;
    });
  }
  /// Whether it is -0.0 where there are terms: as sums have it, which are 0.0 where there are none.
  bool beginsWithNothing(ValueId v) const {
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || fn_.typeOf(v).cls != ClassKind::Scalar) return false;
    const Stmt& s = fn_.stmts[def];
    const uint64_t nothing = uint64_t(1) << (types::scalarBits(fn_.typeOf(v).scalar) - 1);
    if (const uint64_t* known = asConstant(fn_, v)) return *known == nothing;
    if (s.kind != StmtKind::Scalar || s.as<ScalarAttr>().op != OpKind::Select) return false;
    const uint64_t *some = asConstant(fn_, s.operands[1]), *none = asConstant(fn_, s.operands[2]);
    return some && none && *some == nothing && *none == 0;
  }
  bool addsTo(ValueId carried, ValueId next) const {
    const StmtId id = fn_.values[next].def;
    if (!id.valid() || uses_.at(next) != 1 || fn_.stmts[id].kind != StmtKind::Scalar) return false;
    const Stmt& sum = fn_.stmts[id];
    const auto& attr = sum.as<ScalarAttr>();
    return attr.op == OpKind::Add && types::isFloatKind(attr.from) && uses_.contains(carried) &&
           uses_.at(carried) == 1 && std::ranges::find(sum.operands, carried) != sum.operands.end();
  }

  /// Whether nothing else is stored or done than that each sum goes to its place.
  bool findStores(RegionId region, PointSums& sums) const {
    return std::ranges::all_of(fn_.regions[region].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      if (id == sums.blocks) return isPure(s);
      if (s.kind == StmtKind::If && s.results.empty())
        return std::ranges::all_of(s.regions, [&](RegionId r) { return findStores(r, sums); });
      if (s.kind != StmtKind::Store) return isPlain(module_, fn_, s);
      const std::vector<ValueId>& results = fn_.stmts[sums.blocks].results;
      const auto sum = std::ranges::find(results, s.operands.back());
      if (sum == results.end() || uses_.at(*sum) != 1 || read_.contains(s.operands[0]) ||
          fn_.typeOf(s.operands[0]) != dataType)
        return false;
      sums.stores[static_cast<size_t>(sum - results.begin())] = {id, region};
      return true;
    });
  }
  /// Whether each sum has a place, which is known before all stores, or of the sums themselves.
  bool arePlacesKnown(const PointSums& sums, bool beforeSums) const {
    const size_t front = beforeSums ? placeOf(fn_, sums.home, sums.blocks) : sums.storesFrom(fn_);
    const std::unordered_set<RegionId> inside = regionsWithin(fn_, sums.home);
    return std::ranges::all_of(sums.stores, [&](const auto& store) {
      if (!store.first.valid()) return false;
      const std::vector<ValueId>& operands = fn_.stmts[store.first].operands;
      return std::all_of(operands.begin(), operands.end() - 1, [&](ValueId v) {
        const Value& value = fn_.values[v];
        if (value.region == sums.home)
          return !value.def.valid() || placeOf(fn_, sums.home, value.def) < front;
        return !inside.contains(value.region);
      });
    });
  }
  bool isPure(const Stmt& loop) const {
    return std::ranges::none_of(loop.regions, [this](RegionId r) {
      return anyOf(fn_, r, [this](const Stmt& s) {
        return s.kind == StmtKind::For || s.kind == StmtKind::If ? !isPure(s) : !isPlain(module_, fn_, s);
      });
    });
  }

  const Module& module_;
  const Function& fn_;
  std::unordered_map<ValueId, unsigned> uses_;
  std::unordered_set<ValueId> read_;
};

class ReductionBlockInterchanger {
public:
  ReductionBlockInterchanger(const Module& module, Function& fn)
      : module_(module), fn_(fn), reader_(module, fn), b_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (size_t k = 0; k < stmts.size(); ++k) {
      const bool isLoop = fn_.stmts[stmts[k]].kind == StmtKind::For;
      const size_t count = isLoop ? interchange(r, std::span(stmts).subspan(k)) : 0;
      if (count == 0)
        regionsOf(stmts[k]);
      else
        k += count - 1;
    }
  }

private:
  void regionsOf(StmtId id) {
    const std::vector<RegionId> inner = fn_.stmts[id].regions;
    for (RegionId each : inner) region(each);
  }
  /// An iteration of the loop outside.
  struct PieceBounds {
    ValueId block;
    ValueId isLater;    ///< not the first one
    ValueId isMore;     ///< than the terms of a block, which is one after another, or where there is none
    ValueId first, end; ///< iterations of a chain; of a chain in blocks, if there is only one block
    ValueId isOne;      ///< whether there is, of which pieces are taken; none if that is not asked
    ValueId goesOn;     ///< whether a piece is not the first one
  };

  /// Interchanges the loops of points at the beginning of some statements, if all are sums; how many
  /// statements.
  size_t interchange(RegionId home, std::span<const StmtId> stmts) {
    std::vector<PointSums> sums;
    std::vector<StmtId> loops;
    size_t count = 0;
    for (size_t k = 0; k < stmts.size(); ++k) {
      const Stmt& s = fn_.stmts[stmts[k]];
      if (s.kind == StmtKind::Yield) break;
      if (s.kind != StmtKind::For && isPlain(module_, fn_, s)) continue;
      std::vector<PointSums> more;
      if (s.kind != StmtKind::For || s.as<ForAttr>().vectorWidth > 0 || !reader_.areSums(stmts[k], more))
        break;
      sums.insert(sums.end(), more.begin(), more.end());
      loops.push_back(stmts[k]);
      count = k + 1;
    }
    if (loops.empty() || !areAlike(loops, sums)) return 0;
    const size_t plain = count - loops.size(); // these come before
    write(home, placeOf(fn_, home, stmts[0]) + plain, loops, sums);
    return count;
  }

  ValueId countOf(const PointSums& sums) const { return fn_.stmts[sums.blocks].operands[1]; }
  /// Numbers that do not change in some loops.
  FixedNumbers fixedIn(std::span<const StmtId> loops) const {
    std::unordered_set<RegionId> inside;
    for (StmtId id : loops) inside.merge(regionsWithin(fn_, fn_.stmts[id].regions[0]));
    return FixedNumbers(fn_, [this, inside](ValueId v) { return inside.contains(fn_.values[v].region); });
  }
  /// Whether all have as many blocks or iterations, a number that is known before.
  bool areAlike(std::span<const StmtId> loops, const std::vector<PointSums>& sums) const {
    return fixedIn(loops).holds(countOf(sums[0])) && std::ranges::all_of(sums, [&](const PointSums& each) {
             return each.isChain == sums[0].isChain && areSameNumber(fn_, countOf(each), countOf(sums[0]));
           });
  }

  void write(RegionId home, size_t place, const std::vector<StmtId>& loops,
             const std::vector<PointSums>& sums) {
    b_.loc = fn_.stmts[loops[0]].loc;
    const RegionId made = b_.begin();
    Copies copies;
    const ValueId count = fixedIn(loops).write(b_, countOf(sums[0]), copies), one = b_.integer(1);
    const bool areChains = sums[0].isChain;
    const bool mayBeOne = !areChains && haveChains(loops, sums);
    ValueId tripCount = b_.arith(OpKind::Max, count, one), length, isOne;
    if (areChains) std::tie(tripCount, length) = piecesOf(count);
    if (mayBeOne) {
      isOne = b_.compare(CmpKind::Le, count, one);
      const auto [pieces, each] = piecesOf(tripCountOfFirst(loops, sums));
      tripCount = b_.select(isOne, pieces, tripCount);
      length = each;
    }
    b_.carryLoop(b_.integer(0), tripCount, {}, [&](ValueId at, const std::vector<ValueId>& none) {
      const ValueId zero = b_.integer(0);
      PieceBounds piece;
      piece.isOne = isOne;
      piece.block = mayBeOne ? b_.select(isOne, zero, at) : at;
      piece.isLater = b_.compare(CmpKind::Gt, piece.block, zero);
      piece.isMore = areChains ? ValueId() : b_.either(piece.isLater, b_.compare(CmpKind::Le, count, zero));
      piece.goesOn = piece.isLater;
      if (mayBeOne) piece.goesOn = b_.both(isOne, b_.compare(CmpKind::Gt, at, zero));
      if (length.valid()) {
        piece.first = b_.arith(OpKind::Mul, at, length);
        piece.end = b_.arith(OpKind::Add, piece.first, length);
      }
      if (areChains) piece.end = b_.arith(OpKind::Min, count, piece.end);
      std::vector<StmtId>& body = fn_.regions[b_.current()].stmts;
      body.insert(body.end(), loops.begin(), loops.end());
      for (const PointSums& each : sums) areChains ? takePiece(each, piece) : takeOne(each, piece);
      return none;
    });
    b_.end();
    std::erase_if(fn_.regions[home].stmts,
                  [&](StmtId id) { return std::ranges::find(loops, id) != loops.end(); });
    splice(fn_, made, home, place);
  }
  /// The number of pieces of a chain of `count` iterations, and the iterations of each. A short chain is one
  /// piece.
  std::pair<ValueId, ValueId> piecesOf(ValueId count) {
    const ValueId size = b_.integer(iterationsOfPiece);
    const ValueId isLong = b_.compare(CmpKind::Gt, count, b_.integer(2 * iterationsOfPiece));
    const ValueId pieces = b_.arith(
        OpKind::Shr, b_.arith(OpKind::Add, count, b_.integer(iterationsOfPiece - 1)), b_.integer(pieceShift));
    return {b_.select(isLong, pieces, b_.integer(1)), b_.select(isLong, size, count)};
  }
  /// The numbers of blocks, by which ends of chains are known.
  std::unordered_set<ValueId> blockNumbers(const std::vector<PointSums>& sums) const {
    std::unordered_set<ValueId> out;
    for (const PointSums& each : sums) out.insert(fn_.regions[fn_.stmts[each.blocks].regions[0]].params[0]);
    return out;
  }
  FixedNumbers fixedByBlock(const std::vector<StmtId>& loops, const std::vector<PointSums>& sums) const {
    std::unordered_set<RegionId> inside;
    for (StmtId id : loops) inside.merge(regionsWithin(fn_, fn_.stmts[id].regions[0]));
    return FixedNumbers(fn_, [this, inside, numbers = blockNumbers(sums)](ValueId v) {
      return inside.contains(fn_.values[v].region) && !numbers.contains(v);
    });
  }
  /// Whether all may be taken by pieces where there is one block: that has an end that is known before.
  bool haveChains(const std::vector<StmtId>& loops, const std::vector<PointSums>& sums) const {
    const FixedNumbers fixed = fixedByBlock(loops, sums);
    return std::ranges::all_of(sums, [&](const PointSums& each) {
      return each.chain.valid() && fixed.holds(fn_.stmts[each.chain].operands[1]);
    });
  }
  /// The most iterations that a first block has.
  ValueId tripCountOfFirst(const std::vector<StmtId>& loops, const std::vector<PointSums>& sums) {
    const FixedNumbers fixed = fixedByBlock(loops, sums);
    const std::unordered_set<ValueId> numbers = blockNumbers(sums);
    ValueId most = b_.integer(0);
    for (const PointSums& each : sums) {
      Copies copies;
      for (ValueId number : numbers) copies.set(number, b_.integer(0));
      const ValueId end = fn_.stmts[each.chain].operands[1];
      most = b_.arith(OpKind::Max, most, fixed.write(b_, end, copies));
    }
    return most;
  }
  /// Of all turns only those of a piece, which go on from what is stored.
  void takePiece(const PointSums& sums, const PieceBounds& piece) {
    const std::vector<ValueId> begun(fn_.stmts[sums.blocks].operands.begin() + 2,
                                     fn_.stmts[sums.blocks].operands.end());
    const RegionId front = b_.begin();
    const std::vector<ValueId> from = begunAt(sums, piece, begun);
    b_.end();
    splice(fn_, front, sums.home, placeOf(fn_, sums.home, sums.blocks));
    std::vector<ValueId>& operands = fn_.stmts[sums.blocks].operands;
    operands = {piece.first, piece.end};
    operands.insert(operands.end(), from.begin(), from.end());
  }
  /// The chain of a block; where there is one block, of a piece of it.
  void takePieceOfBlock(const PointSums& sums, const PieceBounds& piece, Copies& copies) {
    const Stmt chain = fn_.stmts[sums.chain]; // statements are made on the way
    std::vector<ValueId> given;
    for (ValueId v : chain.operands) given.push_back(copies.of(v));
    const std::vector<ValueId> from = begunAt(sums, piece, {given.begin() + 2, given.end()});
    std::vector<ValueId> operands{
        b_.select(piece.isOne, piece.first, given[0]),
        b_.select(piece.isOne, b_.arith(OpKind::Min, given[1], piece.end), given[1])};
    operands.insert(operands.end(), from.begin(), from.end());
    clone(b_, sums.chain, copies);
    fn_.stmts[fn_.values[copies.of(chain.results[0])].def].operands = std::move(operands);
  }
  /// What a chain begins with: what it has come to, or what it was given.
  std::vector<ValueId> begunAt(const PointSums& sums, const PieceBounds& piece,
                               const std::vector<ValueId>& given) {
    std::vector<ValueType> types;
    std::vector<ValueId> stored;
    const RegionId later = b_.begin();
    for (size_t k = 0; k < given.size(); ++k) {
      types.push_back(fn_.typeOf(given[k]));
      stored.push_back(storedAt(sums, k, types[k]));
    }
    b_.end(std::move(stored));
    const RegionId first = b_.begin();
    b_.end(given);
    return b_.results(b_.stmt(StmtKind::If, {piece.goesOn}, types, {}, {later, first}));
  }
  /// What the place of a sum holds.
  ValueId storedAt(const PointSums& sums, size_t k, ValueType type) {
    const Stmt s = fn_.stmts[sums.stores[k].first];
    return b_.value(StmtKind::Load, {s.operands.begin(), s.operands.end() - 1}, type, s.attr);
  }

  /// Of all blocks only one; what those before came to lies where it is stored.
  void takeOne(const PointSums& sums, const PieceBounds& piece) {
    const Stmt loop = fn_.stmts[sums.blocks]; // statements are made on the way
    const std::vector<StmtId> body = fn_.regions[loop.regions[0]].stmts;
    Copies copies;
    copies.set(fn_.regions[loop.regions[0]].params[0], piece.block);
    const RegionId front = b_.begin();
    const std::vector<ValueId> totals = fn_.stmts[body.back()].operands;
    for (StmtId id : std::span(body).first(body.size() - 1))
      if (piece.isOne.valid() && id == sums.chain)
        takePieceOfBlock(sums, piece, copies);
      else if (std::ranges::find(totals, resultOf(id)) == totals.end())
        clone(b_, id, copies);
    std::vector<ValueId> terms;
    for (size_t k = 0; k < totals.size(); ++k) {
      const std::vector<ValueId>& added = fn_.stmts[fn_.values[totals[k]].def].operands;
      terms.push_back(copies.of(added[added[0] == fn_.regions[loop.regions[0]].params[k + 1] ? 1 : 0]));
    }
    b_.end();
    splice(fn_, front, sums.home, placeOf(fn_, sums.home, sums.blocks));
    std::erase(fn_.regions[sums.home].stmts, sums.blocks);
    goOn(sums, piece, terms, std::span(loop.operands).subspan(2));
  }
  ValueId resultOf(StmtId id) const {
    const std::vector<ValueId>& results = fn_.stmts[id].results;
    return results.empty() ? ValueId() : results[0];
  }
  /// Before all stores there is one question for all sums: a first block is the sum so far.
  void goOn(const PointSums& sums, const PieceBounds& piece, const std::vector<ValueId>& terms,
            std::span<const ValueId> begun) {
    std::vector<ValueType> types;
    std::vector<ValueId> next;
    const RegionId front = b_.begin(), more = b_.begin();
    for (size_t k = 0; k < terms.size(); ++k) {
      types.push_back(fn_.typeOf(terms[k]));
      const ValueId before = b_.select(piece.isLater, storedAt(sums, k, types[k]), begun[k]);
      next.push_back(b_.arith(OpKind::Add, before, terms[k], types[k].scalar));
    }
    b_.end(std::move(next));
    const RegionId first = b_.begin();
    b_.end(terms);
    const std::vector<ValueId> all =
        b_.results(b_.stmt(StmtKind::If, {piece.isMore}, types, {}, {more, first}));
    b_.end();
    splice(fn_, front, sums.home, sums.storesFrom(fn_));
    for (size_t k = 0; k < all.size(); ++k) fn_.stmts[sums.stores[k].first].operands.back() = all[k];
  }

  const Module& module_;
  Function& fn_;
  const SumsReader reader_;
  Builder b_;
};

} // namespace

void interchangeReductionBlocks(const Module& module, Function& function) {
  if (function.kind == FunctionKind::Kernel)
    ReductionBlockInterchanger(module, function).region(function.body);
}

} // namespace melix::loops
