#include "transforms/walks/cse_table.h"

#include "core/ir/same_path.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class Hash {
public:
  void add(uint64_t n) {
    state_ = (state_ ^ n) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void add(const std::string& text) { add(std::hash<std::string>()(text)); }
  uint64_t value() const { return state_; }

private:
  uint64_t state_ = 0;
};

/// Attributes of ops that compute: those of control, and of what is gone after derivatives, say more than
/// fits here, and no two of their ops are the same.
void addAttr(Hash& hash, const Attr& attr) {
  hash.add(attr.index());
  if (auto* n = std::get_if<uint32_t>(&attr)) hash.add(*n);
  if (auto* c = std::get_if<Constant>(&attr)) hash.add(c->bits), hash.add(c->text);
  if (auto* c = std::get_if<CallAttr>(&attr)) hash.add(c->callee.index);
  if (auto* c = std::get_if<CheckAttr>(&attr)) hash.add(static_cast<uint64_t>(c->kind)), hash.add(c->text);
  if (auto* a = std::get_if<FormatAttr>(&attr)) hash.add(a->spec);
  if (auto* p = std::get_if<Path>(&attr))
    for (const PathStep& s : *p) hash.add(uint64_t(s.number) << 8 | static_cast<uint64_t>(s.kind));
}

} // namespace

bool sameAttr(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (auto* n = std::get_if<uint32_t>(&a)) return *n == std::get<uint32_t>(b);
  if (auto* c = std::get_if<CallAttr>(&a)) return c->callee == std::get<CallAttr>(b).callee;
  if (auto* c = std::get_if<Constant>(&a)) {
    const auto& d = std::get<Constant>(b);
    return c->bits == d.bits && c->text == d.text;
  }
  if (auto* c = std::get_if<CheckAttr>(&a)) {
    const auto& d = std::get<CheckAttr>(b);
    return c->kind == d.kind && c->type == d.type && c->text == d.text;
  }
  if (auto* c = std::get_if<FormatAttr>(&a)) {
    const auto& d = std::get<FormatAttr>(b);
    return c->quoted == d.quoted && c->spec == d.spec;
  }
  if (auto* p = std::get_if<Path>(&a)) return samePath(*p, std::get<Path>(b));
  return std::holds_alternative<std::monostate>(a);
}

uint64_t KnownOps::hashOf(const Op& op) const {
  Hash hash;
  hash.add(static_cast<uint64_t>(op.kind));
  for (ValueId v : op.operands) hash.add(v.index);
  for (DimId d : op.dims) hash.add(d.index);
  if (op.resultDims.empty()) // else the types mention symbols of the op's own
    for (ValueId v : op.results) hash.add(f_.typeOf(v).index);
  addAttr(hash, op.attr);
  return hash.value();
}

bool KnownOps::same(const Op& a, const Op& b) const {
  auto sameType = [&](ValueId x, ValueId y) { return !a.resultDims.empty() || f_.typeOf(x) == f_.typeOf(y); };
  return a.kind == b.kind && a.operands == b.operands && a.dims == b.dims &&
         a.resultDims.size() == b.resultDims.size() &&
         std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(), sameType) &&
         sameAttr(a.attr, b.attr);
}

OpId KnownOps::find(OpId id) {
  if (entries_.size() * 2 >= buckets_.size()) grow();
  const Op& op = f_.ops[id];
  const uint64_t hash = hashOf(op);
  uint32_t& bucket = buckets_[hash & (buckets_.size() - 1)];
  for (uint32_t at = bucket; at != none; at = entries_[at].next)
    if (entries_[at].hash == hash && same(f_.ops[entries_[at].op], op)) return entries_[at].op;
  entries_.push_back({id, hash, bucket});
  bucket = static_cast<uint32_t>(entries_.size() - 1);
  return {};
}

void KnownOps::close() {
  for (; entries_.size() > scopes_.back(); entries_.pop_back())
    buckets_[entries_.back().hash & (buckets_.size() - 1)] = entries_.back().next;
  scopes_.pop_back();
}

void KnownOps::grow() {
  buckets_.assign(buckets_.empty() ? 64 : 2 * buckets_.size(), none);
  for (uint32_t at = 0; at < entries_.size(); ++at) {
    uint32_t& bucket = buckets_[entries_[at].hash & (buckets_.size() - 1)];
    entries_[at].next = bucket;
    bucket = at;
  }
}

} // namespace melix::transforms
