// Arms of many literals: which arm a value chooses is found by halving the literals in their order, then one
// arm of two is taken again and again. Both trees are as deep as the logarithm of their leaves, where a chain
// of tests would be as deep as there are arms.
//
//   %k = if %x < 8 { if %x < 4 { … } else { … } } else { … }      the number of the arm, that behind them for
//   none if %k < 2 { if %k < 1 { arm 0 } else { arm 1 } } else { … }

#include "lower/body.h"
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

} // namespace

/// How many arms from `k` on are a table: none if they are few.
size_t BodyLowering::armsInTable(const Matching& m, size_t k) {
  if (!isOrdered(types_, b_.typeOf(m.value))) return 0;
  size_t end = k;
  while (end < m.arms.size() && !m.arms[end].guard.valid() && isLiteral(instance_, m.arms[end].pattern))
    ++end;
  return end - k >= fewArms ? end - k : 0;
}

/// The literals of `count` arms from `k` on in ascending order, each with its first arm.
std::vector<BodyLowering::TableEntry> BodyLowering::tableOf(const Matching& m, size_t k, size_t count) {
  std::vector<TableEntry> entries;
  std::function<void(PatternId, size_t)> add = [&](PatternId id, size_t arm) {
    const Pattern& p = instance_.patterns[id];
    if (p.kind == PatternKind::Literal) return entries.push_back({&p, arm});
    for (PatternId sub : p.subs) add(sub, arm);
  };
  for (size_t arm = 0; arm < count; ++arm) add(m.arms[k + arm].pattern, arm);
  const TypeKind kind = types_.kind(b_.typeOf(m.value));
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

/// The number of the arm that the value chooses among these entries, or `none`.
ValueId BodyLowering::chosen(ValueId value, std::span<const TableEntry> entries, size_t none) {
  auto number = [&](size_t arm) { return b_.integer(static_cast<int64_t>(arm)); };
  const bool isText = types_.kind(b_.typeOf(value)) == TypeKind::Str;
  if (entries.size() <= (isText ? 1 : fewLiterals)) {
    ValueId arm = number(none);
    for (const TableEntry& entry : entries)
      arm = b_.select(testLiteral(value, *entry.literal), number(entry.arm), arm);
    return arm;
  }
  const size_t half = entries.size() / 2;
  return branches(
      Builder::simple(OpKind::If, {compareLiteral(ops::CmpKind::Lt, value, *entries[half].literal)}),
      {[&](RegionId) { return chosen(value, entries.first(half), none); },
       [&](RegionId) { return chosen(value, entries.subspan(half), none); }},
      types_.int64(), {});
}

/// The arms first..last behind `k`, of which `number` is one; the one at `count` is what follows the table.
ValueId BodyLowering::armOf(const Matching& m, size_t k, size_t count, ValueId number, size_t first,
                            size_t last) {
  if (last - first == 1) return first == count ? matchChain(m, k + count) : armBody(m, m.arms[k + first]);
  const size_t half = first + (last - first) / 2;
  ValueId isBefore = b_.compare(ops::CmpKind::Lt, number, b_.integer(static_cast<int64_t>(half)));
  return branches(Builder::simple(OpKind::If, {isBefore}),
                  {[&](RegionId) { return armOf(m, k, count, number, first, half); },
                   [&](RegionId) { return armOf(m, k, count, number, half, last); }},
                  m.type, m.sizes);
}

ValueId BodyLowering::matchTable(const Matching& m, size_t k, size_t count) {
  const std::vector<TableEntry> entries = tableOf(m, k, count);
  return armOf(m, k, count, chosen(m.value, entries, count), 0, count + 1);
}

} // namespace melix::lower
