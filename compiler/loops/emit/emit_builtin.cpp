#include "loops/emit/emit_builtin.h"
#include "loops/emit/lower_values.h"

#include "loops/emit/lower.h"

#include <algorithm>

namespace melix::loops {
namespace {

using ops::BuiltinKind;

/// What a parameter or result of a builtin is, by the words of the table.
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

/// A call being put together.
struct Slots {
  std::vector<ValueId> arguments, alive; ///< what must live until the call is over
  uint32_t results = 0;
  void add(const std::vector<ValueId>& more) { arguments.insert(arguments.end(), more.begin(), more.end()); }
};

/// Writes the arguments to their slots and calls; gives the address of the results' slots.
ValueId call(Builder& b, BuiltinKind kind, const Slots& slots) {
  ValueId in = b.scratch(8 * std::max<size_t>(slots.arguments.size(), 1)),
          out = b.scratch(8 * std::max(slots.results, 1u));
  for (size_t k = 0; k < slots.arguments.size(); ++k)
    b.store(in, {}, {b.fn.typeOf(slots.arguments[k]), 8, static_cast<int64_t>(8 * k), false, true},
            slots.arguments[k]);
  b.stmt(StmtKind::Builtin, {in, out}, {}, kind);
  for (ValueId v : slots.alive) b.stmt(StmtKind::KeepAlive, {v});
  return out;
}

class BuiltinEmitter {
public:
  BuiltinEmitter(Lower& lower, const core::Op& op)
      : lower_(lower), b_(lower.b), types_(lower.types), op_(op), kind_(op.as<core::BuiltinAttr>().builtin),
        signature_(signatureOf(kind_)) {}

  void run() {
    for (size_t k = 0; k < signature_.params.size(); ++k) {
      if (signature_.params[k] == "StrPack") {
        addTexts(std::span(op_.operands).subspan(k));
        break;
      }
      if (k >= op_.operands.size()) return lower_.fail("a builtin with too few arguments");
      addArgument(signature_.params[k], op_.operands[k]);
    }
    const std::vector<TypeId> results = resultTypes();
    if (results.size() != signature_.results.size()) return lower_.fail("a builtin whose results do not fit");
    for (size_t k = 0; k < results.size(); ++k) addResult(signature_.results[k], results[k]);
    out_ = call(b_, kind_, slots_);
    std::vector<ValueId> values;
    for (size_t k = 0; k < results.size(); ++k)
      for (ValueId v : resultOf(signature_.results[k], results[k])) values.push_back(v);
    size_t from = 0;
    lower_.bind(op_.results, values, from);
  }

private:
  /// The rest of the arguments as a count and an array of texts.
  void addTexts(std::span<const core::ValueId> texts) {
    ValueId pack = b_.scratch(16 * std::max<size_t>(texts.size(), 1));
    for (size_t k = 0; k < texts.size(); ++k) {
      Place at = memoryPlace(lower_, pack, types_.str());
      at.offset = static_cast<int64_t>(16 * k);
      storeStored(lower_, at, lower_.leaves(texts[k]), StoreMode::Lend);
      slots_.alive.push_back(lower_.leaf(texts[k]));
    }
    slots_.add({b_.integer(static_cast<int64_t>(texts.size())), pack});
  }

  void addArgument(std::string_view param, core::ValueId v) {
    const TypeId type = lower_.typeOf(v);
    const std::vector<ValueId> own = lower_.leaves(v);
    for (ValueId x : own)
      if (b_.fn.typeOf(x).counted()) slots_.alive.push_back(x);
    if (param == "Value") return slots_.add({b_.descriptor(type), spill(lower_, type, own)});
    if (param != "Bytes") return slots_.add(own);
    const bool packed = types_.kind(type) == TypeKind::Pack;
    slots_.add({own[packed ? 1 : 0], packed ? own[0] : lower_.dimsOf(type)[0]});
  }

  /// The types of the results: one by one, or the parts of a tuple.
  std::vector<TypeId> resultTypes() const {
    std::vector<TypeId> out;
    for (core::ValueId v : op_.results) {
      const TypeId type = lower_.typeOf(v);
      const bool parts =
          types_.kind(type) == TypeKind::Tuple && (signature_.results.size() != 1 || types_.isUnit(type));
      if (!parts)
        out.push_back(type);
      else
        out.insert(out.end(), types_[type].parts.begin(), types_[type].parts.end());
    }
    return out;
  }

  void addResult(std::string_view word, TypeId type) {
    if (word == "Asked") return addAsked(type);
    if (word == "Given") return addGiven(type);
    slots_.results += word == "Str" || word == "Bytes" ? 2 : 1;
  }

  /// What is asked for: of an array the known dims are demanded, the others found.
  void addAsked(TypeId type) {
    if (types_.kind(type) == TypeKind::Pack) type = lower_.layouts.packInner(type);
    const std::vector<types::DimId>& dims = types_[type].dims;
    ValueId wanted = b_.scratch(8 * std::max<size_t>(dims.size(), 1));
    for (size_t d = 0; d < dims.size(); ++d) {
      ValueId extent = lower_.dimInScope(dims[d]) ? lower_.dim(dims[d]) : b_.integer(-1);
      b_.store(wanted, {}, {indexType, 8, static_cast<int64_t>(8 * d), false, false}, extent);
    }
    slots_.add({b_.descriptor(type), wanted});
    slots_.results += 1 + static_cast<uint32_t>(dims.size());
  }

  /// Where the stored form goes.
  void addGiven(TypeId type) {
    given_ = b_.scratch(std::max<uint32_t>(lower_.layouts.stored(type).size, 1));
    slots_.add({b_.descriptor(type), given_});
  }

  ValueId nextSlot(ValueType type) {
    const ValueId v = b_.load(out_, {}, {type, 8, read_, true, false});
    read_ += 8;
    return v;
  }

  std::vector<ValueId> resultOf(std::string_view word, TypeId type) {
    if (word == "Bytes" || (word == "Asked" && !types_.isScalar(type))) return arrayResult(type);
    if (word == "Given") return loadStored(lower_, memoryPlace(lower_, given_, type), true);
    if (word != "Str") return {nextSlot(lower_.layouts.leaves(type)[0])};
    const ValueId data = nextSlot(dataType);
    return {data, nextSlot(indexType)};
  }

  /// An array: its data and dims, of which some are hidden in a pack or defined by the op.
  std::vector<ValueId> arrayResult(TypeId result) {
    const bool packed = types_.kind(result) == TypeKind::Pack;
    const TypeId type = packed ? lower_.layouts.packInner(result) : result;
    const ValueId data = nextSlot(dataType);
    std::vector<ValueId> values(packed ? lower_.layouts.packCount(result) : 0);
    for (types::DimId d : types_[type].dims) {
      const ValueId found = nextSlot(indexType);
      const auto symbol = types_.dims.asSymbol(d);
      if (!symbol) continue;
      for (uint32_t h = 0; h < values.size(); ++h)
        if (*symbol == types_.boundSym(h)) values[h] = found;
      const bool defined = std::ranges::find(op_.resultDims, *symbol) != op_.resultDims.end();
      if (!packed && defined) lower_.defineDim(*symbol, found);
    }
    values.push_back(data);
    return values;
  }

  Lower& lower_;
  Builder& b_;
  types::TypeStore& types_;
  const core::Op& op_;
  const BuiltinKind kind_;
  const Signature signature_;
  Slots slots_;
  ValueId out_;      ///< where results lie
  int64_t read_ = 0; ///< of their bytes
  ValueId given_;    ///< where the result of the word Given lies
};

} // namespace

void emitBuiltin(Lower& lower, const core::Op& op) { BuiltinEmitter(lower, op).run(); }

std::vector<ValueId> callBuiltin(Builder& b, BuiltinKind kind, const std::vector<ValueId>& args,
                                 uint32_t results) {
  Slots slots;
  slots.arguments = args;
  slots.results = results;
  for (ValueId v : args)
    if (b.fn.typeOf(v).counted()) slots.alive.push_back(v);
  const ValueId out = call(b, kind, slots);
  std::vector<ValueId> values;
  for (uint32_t k = 0; k < results; ++k)
    values.push_back(b.load(out, {}, {indexType, 8, 8 * k, false, false}));
  return values;
}

} // namespace melix::loops
