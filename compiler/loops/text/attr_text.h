#pragma once
// Internal to the text of Loops: defines once the text between the name of a statement and the types of its
// results. `Io` writes or reads: each of its functions prints a part of the statement, or fills it in.
//
//   operands(s)                 the operands, with commas.
//   place(s), stored(s)         of an access: base and terms; the value of a store.
//   attr<A>(s)                  the attribute; a reader creates it.
//
//   flag(word, set)             an optional word.
//   implied(word, part, value)  `word part`, printed only if it differs from `value()`. A reader calls that
//                               once operands and results have their types.
//   bits, number, string, type, function, builtin, opIndex, runtime, cases, dependence.

#include "loops/ir/ir.h"

namespace melix::loops::text {

/// The bytes of a value in memory; 0 if the type does not determine them.
inline uint32_t storedBytes(ValueType type) {
  return type.cls == ClassKind::Scalar ? types::scalarBits(type.scalar) / 8 : 8;
}

void attrNone(auto& io, auto& s) { io.operands(s); }
void attrBits(auto& io, auto& s) { io.bits(io.template attr<uint64_t>(s), s); }
void attrBytes(auto& io, auto& s) { io.number(io.template attr<uint64_t>(s)); }
void attrDistance(auto& io, auto& s) {
  attrBytes(io, s);
  io.operands(s);
}
void attrString(auto& io, auto& s) { io.string(io.template attr<std::string>(s)); }
void attrType(auto& io, auto& s) { io.type(io.template attr<TypeId>(s)); }

/// The op is the name of the statement.
void attrScalar(auto& io, auto& s) {
  auto& a = s.template as<ScalarAttr>();
  io.opIndex(a.op, a.index);
  io.operands(s);
  io.implied("of", a.from, [&io, &s] { return io.typeOf(s.operands.back()).scalar; });
}

void attrAccess(auto& io, auto& s) {
  auto& a = io.template attr<Access>(s);
  auto elem = [&io, &s]() -> ValueType {
    if (s.kind == StmtKind::AddressOf) return addressType;
    return io.typeOf(s.kind == StmtKind::Store ? s.operands.back() : s.results[0]);
  };
  io.place(s);
  auto hasTerms = [&s] { return s.operands.size() > (s.kind == StmtKind::Store ? 2 : 1); };
  io.implied("by", a.elemBytes, [=] { return hasTerms() ? storedBytes(elem()) : 0; });
  io.implied("at", a.offset, [] { return int64_t(0); });
  io.flag("transfer", a.transfersOwnership);
  io.flag("borrowed", a.borrowed);
  io.flag("nontemporal", a.nonTemporal);
  io.flag("prefetch", a.prefetch);
  if (s.kind == StmtKind::Store) io.stored(s);
  io.implied("as", a.elem, elem);
}

void attrAlloc(auto& io, auto& s) {
  auto& a = io.template attr<AllocAttr>(s);
  io.type(a.type);
  io.implied("bytes", a.bytes, [&io, &a] { return uint64_t(types::scalarBits(io.kindOf(a.type)) / 8); });
  io.flag("zeroed", a.zeroed);
  io.operands(s);
}

void attrCallee(auto& io, auto& s) {
  io.function(io.template attr<FunctionId>(s));
  io.operands(s);
}
void attrBuiltin(auto& io, auto& s) {
  io.builtin(io.template attr<ops::BuiltinKind>(s));
  io.operands(s);
}
void attrRuntime(auto& io, auto& s) {
  auto& a = io.template attr<RuntimeCall>(s);
  io.runtime(a.kind);
  io.type(a.type);
  io.operands(s);
}
void attrFormat(auto& io, auto& s) {
  auto& a = io.template attr<FormatCall>(s);
  io.type(a.type);
  io.string(a.spec);
  io.flag("quoted", a.quoted);
  io.operands(s);
}
void attrMessage(auto& io, auto& s) {
  io.string(io.template attr<Message>(s).text);
  io.operands(s);
}
void attrSwitch(auto& io, auto& s) {
  io.cases(io.template attr<SwitchAttr>(s).regionOf);
  io.operands(s);
}
void attrFor(auto& io, auto& s) {
  auto& a = io.template attr<ForAttr>(s);
  io.dependence(a.dependence);
  io.flag("polls", a.polls);
  io.flag("grid", a.grid);
  io.flag("blocks", a.blocks);
  io.implied("distance", a.minDistance, [] { return 0U; });
  io.implied("vector", a.vectorWidth, [] { return 0U; });
  io.implied("interleave", a.interleave, [&a] { return a.vectorWidth > 0 ? 1U : 0U; });
  io.flag("predicated", a.predicated);
  io.implied("unroll_jam", a.unrollJam, [] { return 0U; });
  io.operands(s);
}

/// `s` is a statement whose kind is known, constant for a writer.
void statement(auto& io, auto& s) {
  switch (s.kind) {
#define STMT(Kind, Text, Site, Attribute, ...)                                                               \
  case StmtKind::Kind: return attr##Attribute(io, s);
#include "loops/ir/stmts.def"
  }
}

/// The part of a function's head after parameters and results.
void function(auto& io, auto& fn) {
  io.device(fn.device);
  io.effects(fn.effects);
  io.flag("exported", fn.exported);
  io.flag("inlined", fn.inlined);
  io.flag("grid", fn.points.isGrid);
  io.flag("sums_blocks", fn.points.areBlocks);
  io.implied("group", fn.points.threads, [] { return 1U; });
  io.implied("tile", fn.points.tile, [] { return 0U; });
  io.implied("unrolled", fn.tripCount.unrolledBy, [] { return 1U; });
  io.implied("multiple_of", fn.tripCount.tripCountMultipleOf, [] { return uint64_t{1}; });
  // The name of a key is the part before its number: `energy` of `energy#0`.
  io.implied("named", fn.name, [&fn] { return fn.key.substr(0, fn.key.find('#')); });
  io.source(fn.source);
}

} // namespace melix::loops::text
