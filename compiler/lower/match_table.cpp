// Arms of many literals: which arm a value chooses is found by halving the literals in their order, then one
// arm of two is taken again and again. Both trees are as deep as the logarithm of their leaves, where a chain
// of tests would be as deep as there are arms.
//
//   %k = if %x < 8 { if %x < 4 { … } else { … } } else { … }      the number of the arm, that behind them for
//   none if %k < 2 { if %k < 1 { arm 0 } else { arm 1 } } else { … }

#include "lower/body.h"
#include "lower/control.h"
#include "lower/match.h"
#include "lower/patterns.h"

namespace melix::lower {

using namespace check;

namespace {

constexpr size_t fewArms = 16;    ///< are a chain
constexpr size_t fewLiterals = 4; ///< are compared one after another, without a branch

bool isLiteral(const Instance& instance, PatternId id) {
  const Pattern& p = instance.patterns[id];
  return p.kind == PatternKind::Literal ||
         (p.kind == PatternKind::Or &&
          std::ranges::all_of(p.subs, [&](PatternId s) { return isLiteral(instance, s); }));
}

/// Whether values of the type stand in an order in which each equals itself alone.
bool isOrdered(const types::TypeStore& types, TypeId type) {
  const TypeKind kind = types.kind(type);
  return types.isInt(type) || kind == TypeKind::Char || kind == TypeKind::Str;
}

struct TableEntry {
  const Pattern* literal;
  size_t arm;
};

/// The literals of arms in ascending order, each with the number of its first arm.
std::vector<TableEntry> tableOf(const Instance& instance, TypeKind kind, std::span<const check::Arm> arms) {
  std::vector<TableEntry> entries;
  std::function<void(PatternId, size_t)> add = [&](PatternId id, size_t arm) {
    const Pattern& p = instance.patterns[id];
    if (p.kind == PatternKind::Literal) return entries.push_back({&p, arm});
    for (PatternId sub : p.subs) add(sub, arm);
  };
  for (size_t arm = 0; arm < arms.size(); ++arm) add(arms[arm].pattern, arm);
  const unsigned unused = kind == TypeKind::Str ? 0 : 64 - types::scalarBits(kind);
  const bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
  auto before = [&](const TableEntry& x, const TableEntry& y) {
    if (kind == TypeKind::Str) return x.literal->value.text < y.literal->value.text;
    const uint64_t a = x.literal->value.bits << unused, b = y.literal->value.bits << unused;
    return isSigned ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  };
  std::ranges::stable_sort(entries, before);
  const auto rest = std::ranges::unique(
      entries, [&](const TableEntry& x, const TableEntry& y) { return !before(x, y) && !before(y, x); });
  entries.erase(rest.begin(), rest.end());
  return entries;
}

} // namespace

/// The arms from `k` on that are literals, and what follows them; none if they are few.
std::optional<ValueId> matchTable(BodyLowering& fn, const Matching& m, size_t k) {
  if (!isOrdered(fn.types, fn.b.typeOf(m.value))) return std::nullopt;
  const auto begin = m.arms.begin() + static_cast<std::ptrdiff_t>(k);
  const auto end = std::find_if(begin, m.arms.end(), [&](const check::Arm& arm) {
    return arm.guard.valid() || !isLiteral(fn.instance, arm.pattern);
  });
  const std::span<const check::Arm> arms(begin, end);
  if (arms.size() < fewArms) return std::nullopt;
  const TypeKind kind = fn.types.kind(fn.b.typeOf(m.value));
  auto number = [&](size_t arm) { return fn.b.integer(static_cast<int64_t>(arm)); };
  // The number of the arm that the value chooses among entries, or that behind all arms.
  std::function<ValueId(std::span<const TableEntry>)> chosen = [&](std::span<const TableEntry> entries) {
    if (entries.size() <= (kind == TypeKind::Str ? 1 : fewLiterals)) {
      ValueId arm = number(arms.size());
      for (const TableEntry& entry : entries)
        arm = fn.b.select(testLiteral(fn, m.value, *entry.literal), number(entry.arm), arm);
      return arm;
    }
    const size_t half = entries.size() / 2;
    core::Op isBefore =
        Builder::simple(OpKind::If, {testLiteral(fn, m.value, *entries[half].literal, ops::CmpKind::Lt)});
    return branches(fn, std::move(isBefore),
                    {[&](RegionId) { return chosen(entries.first(half)); },
                     [&](RegionId) { return chosen(entries.subspan(half)); }},
                    fn.types.int64(), {});
  };
  const std::vector<TableEntry> entries = tableOf(fn.instance, kind, arms);
  const ValueId choice = chosen(entries);
  // The arms first..last, of which it is one.
  std::function<ValueId(size_t, size_t)> armOf = [&](size_t first, size_t last) {
    if (last - first == 1)
      return first == arms.size() ? matchChain(fn, m, k + first) : armBody(fn, m, arms[first]);
    const size_t half = first + (last - first) / 2;
    return branches(
        fn, Builder::simple(OpKind::If, {fn.b.compare(ops::CmpKind::Lt, choice, number(half))}),
        {[&](RegionId) { return armOf(first, half); }, [&](RegionId) { return armOf(half, last); }}, m.type,
        m.sizes);
  };
  return armOf(0, arms.size() + 1);
}

} // namespace melix::lower
