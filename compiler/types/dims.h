#pragma once
// Dimensions: the second sort of name. A dimension is a normal form over symbols, so equality is equality of
// ids.
//
// Normal form (rule 23): a polynomial with integer coefficients over atoms; an atom is a symbol, or a floor
// division, remainder, min or max of normal forms. Construction normalises, and equal normal forms have equal
// ids.

#include "source/source.h"
#include "support/ids.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace melix::types {

struct DimSymTag;
struct DimTag;
struct DimAtomTag;
using DimSym = Id<DimSymTag>;
using DimId = Id<DimTag>;
using DimAtomId = Id<DimAtomTag>;

/// Where a symbol's number comes from, which decides when two dimensions are comparable at compile time (rule
/// 22).
enum class DimSymKind : uint8_t {
  Parameter, ///< a dimension variable of a function or record: a fixed unknown number of its own, at least 0
  Unknown,   ///< bound at run time: `?N`, `_`, a filtered size
  Value,     ///< an `int` value used as a dimension; may be negative
  Inference, ///< to be solved while checking; never reaches Core
  Bound,     ///< bound by the enclosing `pack` type; canonical, see TypeStore::boundSym
};

struct DimSymInfo {
  std::string name; ///< source spelling, for messages and Core text; need not be unique
  DimSymKind kind = DimSymKind::Parameter;
  int64_t lowerBound = 0; ///< a proven lower bound (INT64_MIN when nothing is known)
  Span origin;            ///< where it was introduced
};

/// TooLarge: an expression with a number that no 64 bits hold; nothing computed from it is a size either.
enum class DimAtomKind : uint8_t { Symbol, FloorDiv, Mod, Min, Max, TooLarge };

struct DimAtom {
  DimAtomKind kind;
  DimSym symbol;           ///< of Symbol
  std::vector<DimId> args; ///< two for FloorDiv and Mod; sorted and distinct for Min and Max
  auto operator<=>(const DimAtom&) const = default;
};

/// coefficient · product of atoms; no factors: the constant term.
struct DimTerm {
  int64_t coefficient;
  std::vector<DimAtomId> factors; ///< sorted, with repetition for powers
  auto operator<=>(const DimTerm&) const = default;
};

using DimSubst = std::unordered_map<DimSym, DimId>;

/// The largest extent of an axis, and product of the extents of an array that are not 0 (rule 17).
constexpr int64_t maxExtent = int64_t(1) << 47;

/// Owns symbols, atoms and dimensions of one session. Arithmetic is exact: where a coefficient leaves 64 bits
/// the result is tooLarge(), which takes over all that is computed from it (rule 17).
class DimStore {
public:
  DimSym newSym(DimSymInfo info);
  const DimSymInfo& info(DimSym s) const { return syms_[s]; }
  DimSymInfo& info(DimSym s) { return syms_[s]; }
  size_t symCount() const { return syms_.size(); }

  DimId constant(int64_t value);
  DimId symbol(DimSym s);
  DimId add(DimId a, DimId b);
  DimId sub(DimId a, DimId b);
  DimId mul(DimId a, DimId b);
  DimId floorDiv(DimId a, DimId b); ///< `b` a zero constant is the caller's error
  DimId mod(DimId a, DimId b);
  DimId min(DimId a, DimId b);
  DimId max(DimId a, DimId b);
  /// The size, or 0 where it is negative.
  DimId nonNegative(DimId d) { return atLeast(d, 0) ? d : max(d, constant(0)); }
  DimId product(std::span<const DimId> dims);
  DimId tooLarge();
  bool isTooLarge(DimId d) const;

  const std::vector<DimTerm>& terms(DimId d) const { return dims_[d]; }
  const DimAtom& atom(DimAtomId a) const { return atoms_[a]; }
  std::optional<int64_t> asConstant(DimId d) const;
  std::optional<DimSym> asSymbol(DimId d) const; ///< `1·symbol` and nothing else

  DimId substitute(DimId d, const DimSubst& subst);
  /// Symbols in the order of first occurrence, without repetition.
  void collectSymbols(DimId d, std::vector<DimSym>& out) const;
  bool mentions(DimId d, DimSym s) const;
  bool mentionsKind(DimId d, DimSymKind kind) const;
  /// Contains a `/`, `%`, `min` or `max` atom.
  bool hasOpaqueAtom(DimId d) const;
  /// Provably at least `bound` from the symbols' lower bounds (intervals only).
  bool atLeast(DimId d, int64_t bound) const;
  /// Exact value under an assignment of every symbol in it. Floor division; division by 0, and numbers beyond
  /// 64 bits on the way, give nullopt.
  std::optional<int64_t> evaluate(DimId d, const std::unordered_map<DimSym, int64_t>& values) const;
  /// Source-like text: `2*N + 1`, `(H - 2) / 2`.
  std::string print(DimId d) const;
  /// Keeps how the source writes a dimension; of several spellings the first.
  void spell(DimId d, std::string_view text);
  /// As the source writes it, for messages (rule 23); as print() if it is written nowhere.
  std::string show(DimId d) const;

private:
  /// Results of operations by two dimensions, the lower one first: normal forms never change.
  using Results = std::unordered_map<uint64_t, DimId>;
  static uint64_t keyOf(DimId a, DimId b);

  DimId intern(std::vector<DimTerm> terms);
  DimId normal(std::vector<DimTerm> terms);
  DimId sumOf(DimId a, DimId b);
  DimId productOf(DimId a, DimId b);
  DimAtomId internAtom(DimAtom atom);
  DimId ofAtom(DimAtom atom);
  DimId extremum(DimAtomKind kind, DimId a, DimId b);
  DimId substituteAtom(DimAtomId id, const DimSubst& subst);
  std::optional<int64_t> evaluateAtom(DimAtomId id, const std::unordered_map<DimSym, int64_t>& values) const;
  std::string printAtom(DimAtomId id) const;

  Store<DimSym, DimSymInfo> syms_;
  Store<DimAtomId, DimAtom> atoms_;
  Store<DimId, std::vector<DimTerm>> dims_;
  std::unordered_map<DimId, std::string> spellings_;
  std::map<DimAtom, DimAtomId> atomIds_;
  std::map<std::vector<DimTerm>, DimId> dimIds_;
  std::unordered_map<int64_t, DimId> constants_;
  std::unordered_map<DimSym, DimId> symbols_;
  Results sums_, products_;
  DimId tooLarge_;
};

} // namespace melix::types
