// Panics, builtins, formatting.
#include "loops/lower.h"

namespace melix::loops {
namespace {

using ops::BuiltinKind;

/// What a parameter or result of a builtin is (compiler/ops/builtins.def), by the words of that table.
struct Signature {
  std::vector<std::string_view> params, results;
};

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> out;
  size_t at = 0;
  while (at < list.size()) {
    size_t begin = list.find_first_not_of("(), ", at);
    if (begin == std::string_view::npos) break;
    size_t end = list.find_first_of("(), ", begin);
    out.push_back(list.substr(begin, end - begin));
    at = end;
  }
  return out;
}

Signature signatureOf(BuiltinKind kind) {
  switch (kind) {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  case BuiltinKind::Kind: return {words(#Params), words(#Results)};
#include "ops/builtins.def"
  }
  return {};
}

} // namespace

void Lower::lowerPanic(const core::Op& op) { b_.stmt(StmtKind::Panic, leaves(op.operands[0])); }

// --- builtins and formatting
// ------------------------------------------------------------------------------------------

/// Calls with arguments that are slots already; gives the first `results` slots as integers.
std::vector<ValueId> Lower::callBuiltin(BuiltinKind kind, const std::vector<ValueId>& args,
                                        uint32_t results) {
  BuiltinCall call;
  call.slots = args;
  call.resultSlots = results;
  for (ValueId v : args)
    if (b_.fn.typeOf(v).counted()) call.alive.push_back(v);
  ValueId out = callWithSlots(kind, call);
  std::vector<ValueId> values;
  for (uint32_t k = 0; k < results; ++k)
    values.push_back(b_.load(out, {}, {indexType, 8, 8 * k, false, false}));
  return values;
}

/// The rest of the arguments as a count and an array of texts.
void Lower::addTexts(BuiltinCall& call, const std::vector<core::ValueId>& texts) {
  ValueId pack = b_.scratch(16 * std::max<size_t>(texts.size(), 1));
  for (size_t k = 0; k < texts.size(); ++k) {
    Place at = memoryPlace(pack, types_.str());
    at.offset = static_cast<int64_t>(16 * k);
    storeStored(at, leaves(texts[k]), StoreMode::Lend);
    call.alive.push_back(leaf(texts[k]));
  }
  call.add({b_.integer(static_cast<int64_t>(texts.size())), pack});
}

void Lower::addArgument(BuiltinCall& call, std::string_view param, core::ValueId v) {
  TypeId type = typeOf(v);
  const std::vector<ValueId> own = leaves(v);
  for (ValueId x : own)
    if (b_.fn.typeOf(x).counted()) call.alive.push_back(x);
  if (param == "Value") return call.add({b_.descriptor(type), spill(type, own)});
  if (param != "Bytes") return call.add(own);
  bool packed = types_.kind(type) == TypeKind::Pack;
  call.add({own[packed ? 1 : 0], packed ? own[0] : dimsOf(type)[0]});
}

/// What is asked for: of an array the known dims are demanded, the others found.
void Lower::addAsked(BuiltinCall& call, TypeId type) {
  if (types_.kind(type) == TypeKind::Pack) type = layouts_.packInner(type);
  const std::vector<types::DimId>& dims = types_[type].dims;
  ValueId wanted = b_.scratch(8 * std::max<size_t>(dims.size(), 1));
  for (size_t d = 0; d < dims.size(); ++d) {
    ValueId extent = dimInScope(dims[d]) ? dim(dims[d]) : b_.integer(-1);
    b_.store(wanted, {}, {indexType, 8, static_cast<int64_t>(8 * d), false, false}, extent);
  }
  call.add({b_.descriptor(type), wanted});
  call.resultSlots += 1 + static_cast<uint32_t>(dims.size());
}

/// The types of a builtin's results: one by one, or the parts of a tuple.
std::vector<TypeId> Lower::builtinResults(const core::Op& op, size_t count) {
  std::vector<TypeId> out;
  for (core::ValueId v : op.results) {
    TypeId type = typeOf(v);
    bool parts = types_.kind(type) == TypeKind::Tuple && (count != 1 || types_.isUnit(type));
    if (!parts)
      out.push_back(type);
    else
      out.insert(out.end(), types_[type].parts.begin(), types_[type].parts.end());
  }
  return out;
}

/// Writes the arguments to their slots and calls; gives the address of the results' slots.
ValueId Lower::callWithSlots(BuiltinKind kind, const BuiltinCall& call) {
  ValueId in = b_.scratch(8 * std::max<size_t>(call.slots.size(), 1)),
          out = b_.scratch(8 * std::max(call.resultSlots, 1u));
  for (size_t k = 0; k < call.slots.size(); ++k)
    b_.store(in, {}, {b_.fn.typeOf(call.slots[k]), 8, static_cast<int64_t>(8 * k), false, true},
             call.slots[k]);
  b_.stmt(StmtKind::Builtin, {in, out}, {}, kind);
  for (ValueId v : call.alive) b_.stmt(StmtKind::KeepAlive, {v});
  return out;
}

/// An array that a builtin gave: its data and dims, of which some are hidden in a pack or defined by the op.
std::vector<ValueId> Lower::arrayResult(const core::Op& op, TypeId result,
                                        const std::function<ValueId(ValueType)>& slot) {
  bool packed = types_.kind(result) == TypeKind::Pack;
  TypeId type = packed ? layouts_.packInner(result) : result;
  const std::vector<types::DimId>& dims = types_[type].dims;
  ValueId data = slot(dataType);
  std::vector<ValueId> values(packed ? layouts_.packCount(result) : 0);
  for (types::DimId d : dims) {
    ValueId found = slot(indexType);
    auto symbol = types_.dims.asSymbol(d);
    if (!symbol) continue;
    for (uint32_t h = 0; packed && h < values.size(); ++h)
      if (*symbol == types_.boundSym(h)) values[h] = found;
    bool defined = std::find(op.resultDims.begin(), op.resultDims.end(), *symbol) != op.resultDims.end();
    if (!packed && defined) defineDim(*symbol, found);
  }
  values.push_back(data);
  return values;
}

void Lower::lowerBuiltin(const core::Op& op) {
  BuiltinKind kind = op.as<core::BuiltinAttr>().builtin;
  Signature signature = signatureOf(kind);
  BuiltinCall call;
  for (size_t k = 0; k < signature.params.size(); ++k) {
    if (signature.params[k] == "StrPack") {
      addTexts(call, {op.operands.begin() + static_cast<ptrdiff_t>(k), op.operands.end()});
      break;
    }
    if (k >= op.operands.size()) return fail("a builtin with too few arguments");
    addArgument(call, signature.params[k], op.operands[k]);
  }
  std::vector<TypeId> results = builtinResults(op, signature.results.size());
  if (results.size() != signature.results.size()) return fail("a builtin whose results do not fit");
  for (size_t k = 0; k < results.size(); ++k) {
    std::string_view word = signature.results[k];
    if (word == "Asked")
      addAsked(call, results[k]);
    else
      call.resultSlots += word == "Str" || word == "Bytes" ? 2 : 1;
  }
  ValueId out = callWithSlots(kind, call);
  int64_t at = 0;
  auto slot = [&](ValueType type) {
    ValueId v = b_.load(out, {}, {type, 8, at, true, false});
    at += 8;
    return v;
  };
  std::vector<ValueId> values;
  for (size_t k = 0; k < results.size(); ++k) {
    std::string_view word = signature.results[k];
    bool isArray = word == "Bytes" || (word == "Asked" && !types_.isScalar(results[k]));
    if (isArray) {
      std::vector<ValueId> array = arrayResult(op, results[k], slot);
      values.insert(values.end(), array.begin(), array.end());
    } else if (word == "Str") {
      values.push_back(slot(dataType));
      values.push_back(slot(indexType));
    } else {
      values.push_back(slot(layouts_.leaves(results[k])[0]));
    }
  }
  size_t from = 0;
  bind(op.results, values, from);
}

std::vector<ValueId> Lower::format(TypeId type, const std::vector<ValueId>& v, const std::string& spec,
                                   bool quoted, std::vector<ValueId> numbers) {
  numbers.insert(numbers.begin(), spill(type, v));
  StmtId s =
      b_.stmt(StmtKind::Format, std::move(numbers), {dataType, indexType}, FormatCall{type, spec, quoted});
  for (ValueId x : v)
    if (b_.fn.typeOf(x).counted()) b_.stmt(StmtKind::KeepAlive, {x});
  return b_.results(s);
}

void Lower::lowerFormat(const core::Op& op) {
  const auto& attr = op.as<core::FormatAttr>();
  const std::vector<ValueId> v = leaves(op.operands[0]);
  TypeId type = typeOf(op.operands[0]);
  if (types_.kind(type) == TypeKind::Str && attr.spec.empty() && !attr.quoted)
    return define(op.results[0], v);
  std::vector<ValueId> numbers;
  for (size_t k = 1; k < op.operands.size(); ++k) numbers.push_back(leaves(op.operands[k])[0]);
  define(op.results[0], format(type, v, attr.spec, attr.quoted, std::move(numbers)));
}

/// Of what lies in memory the place is given away; the value stays.
void Lower::lowerBlackBox(const core::Op& op) {
  std::vector<ValueId> v = leaves(op.operands[0]);
  for (ValueId& x : v) {
    if (b_.fn.typeOf(x).cls == ClassKind::Scalar) {
      x = b_.value(StmtKind::BlackBox, {x}, b_.fn.typeOf(x));
      continue;
    }
    b_.stmt(StmtKind::BlackBox, {b_.pointerOf(x)});
    b_.stmt(StmtKind::KeepAlive, {x});
  }
  define(op.results[0], std::move(v));
}

void Lower::lowerDebug(const core::Op& op) {
  const std::vector<ValueId> v = leaves(op.operands[0]);
  std::vector<ValueId> text = format(typeOf(op.operands[0]), v, "", true, {});
  ValueId pack = b_.scratch(16);
  storeStored(memoryPlace(pack, types_.str()), text, StoreMode::Lend);
  callBuiltin(BuiltinKind::Eprint, {b_.integer(1), pack}, 0);
  b_.stmt(StmtKind::KeepAlive, {text[0]});
  define(op.results[0], v);
}

} // namespace melix::loops
