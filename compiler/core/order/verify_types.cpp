// Type rules of the ops that have no regions, and of their attributes.
#include "core/ir/path.h"
#include "core/ir/place.h"
#include "core/ir/same_path.h"
#include "core/order/verify.h"
#include "types/leaves.h"

namespace melix::core {

namespace {

class TypeRule {
public:
  TypeRule(const Module& m, const Function& f, const Op& op) : m_(m), f_(f), op_(op), types_(m.types) {}

  std::string check() {
    switch (op_.kind) {
    case OpKind::Const: return constant();
    case OpKind::Zero: return shape(0, 1);
    case OpKind::Undef: return shape(0, 1);
    case OpKind::DimValue: return first({shape(0, 1), dims(1), is(result(), types_.int64())});
    case OpKind::BindDim: return first({shape(1, 0), defines(1), is(operand(0), types_.int64())});
    case OpKind::CastDims: return first({shape(1, 1), sameButDims(operand(0), result())});
    case OpKind::Make: return make();
    case OpKind::Variant: return variant();
    case OpKind::Pack: return pack();
    case OpKind::Unpack: return unpack();
    case OpKind::Known: return known();
    case OpKind::Capture: return capture();
    case OpKind::Closure: return closure();
    case OpKind::Get: return get();
    case OpKind::Set:
    case OpKind::AddAt: return update();
    case OpKind::Reshape: return reshape();
    case OpKind::ArrayOf: return arrayOf();
    case OpKind::Add:
    case OpKind::Sub: return same(2);
    case OpKind::Neg: return same(1);
    case OpKind::Mul: return first({same(2), number(result())});
    case OpKind::Div: return first({same(2), isFloat(result())});
    case OpKind::Fma: return first({same(3), isFloat(result())});
    case OpKind::Sqrt:
    case OpKind::Round: return first({same(1), isFloat(result())});
    case OpKind::Abs: return first({same(1), number(result())});
    case OpKind::Min:
    case OpKind::Max: return first({same(2), number(result())});
    case OpKind::CopySign:
    case OpKind::Scale: return first({same(2), isFloat(result())});
    case OpKind::Directed: return directed();
    case OpKind::Math: return math();
    case OpKind::IDiv:
    case OpKind::IRem: return first({same(2), isInt(result())});
    case OpKind::And:
    case OpKind::Or:
    case OpKind::Xor: return first({same(2), intOrBool(result())});
    case OpKind::Not: return first({same(1), intOrBool(result())});
    case OpKind::Shl:
    case OpKind::Shr: return first({same(2), isInt(result())});
    case OpKind::Cmp: return compare();
    case OpKind::Select: return select();
    case OpKind::Convert: return convert();
    case OpKind::Bitcast: return bitcast();
    case OpKind::Check: return checkOp(0);
    case OpKind::Holds: return first({checkOp(1), is(result(), types_.boolean())});
    case OpKind::Panic: return first({shape(1, 0), is(operand(0), types_.str())});
    case OpKind::Yield: return op_.results.empty() ? "" : "yield has no results";
    case OpKind::ArgSort: return argSort();
    case OpKind::ListOf: return listOf();
    case OpKind::Length: return first({shape(1, 1), is(result(), types_.int64())});
    case OpKind::Push:
      return first(
          {shape(2, 1), isList(operand(0)), is(operand(1), inner(operand(0))), is(result(), operand(0))});
    case OpKind::Pop:
      return first(
          {shape(1, 2), isList(operand(0)), is(result(0), inner(operand(0))), is(result(1), operand(0))});
    case OpKind::ToArray: return toArray();
    case OpKind::ToList: return toList();
    case OpKind::StopGradient:
    case OpKind::BlackBox:
    case OpKind::Debug: return same(1);
    case OpKind::Builtin: return "";
    case OpKind::Format: return format();
    case OpKind::Apply: return op_.operands.empty() ? "apply needs a function value" : "";
    case OpKind::Call: return call();
    case OpKind::Derivative: return "";
    case OpKind::If:
    case OpKind::Match:
    case OpKind::For:
    case OpKind::While:
    case OpKind::Nest: return ""; // with their regions: verify.cpp
    }
    return "unknown op";
  }

private:
  // Rules are evaluated together, so asking for what is not there gives the error type.
  TypeId operand(size_t i) const {
    return i < op_.operands.size() ? f_.typeOf(op_.operands[i]) : types_.error();
  }
  TypeId result(size_t i = 0) const {
    return i < op_.results.size() ? f_.typeOf(op_.results[i]) : types_.error();
  }
  TypeId inner(TypeId t) const { return types_[t].parts.empty() ? types_.error() : types_[t].parts[0]; }
  std::string name(TypeId t) const { return types_.print(t); }

  /// The first rule that fails.
  static std::string first(std::initializer_list<std::string> problems) {
    for (const std::string& p : problems)
      if (!p.empty()) return p;
    return {};
  }
  std::string shape(size_t operands, size_t results) const {
    if (op_.operands.size() == operands && op_.results.size() == results) return {};
    return "has " + std::to_string(op_.operands.size()) + " operands and " +
           std::to_string(op_.results.size()) + " results, not " + std::to_string(operands) + " and " +
           std::to_string(results);
  }
  std::string dims(size_t n) const { return op_.dims.size() == n ? "" : "has a wrong number of dims"; }
  std::string defines(size_t n) const {
    return op_.resultDims.size() == n ? "" : "defines a wrong number of dims";
  }
  std::string is(TypeId have, TypeId want) const {
    return have == want ? "" : "type " + name(have) + " where " + name(want) + " belongs";
  }
  std::string isFloat(TypeId t) const { return types_.isFloat(t) ? "" : name(t) + " is no float"; }
  std::string isInt(TypeId t) const { return types_.isInt(t) ? "" : name(t) + " is no integer"; }
  std::string isList(TypeId t) const {
    return types_.kind(t) == TypeKind::List ? "" : name(t) + " is no list";
  }
  std::string intOrBool(TypeId t) const {
    return types_.isInt(t) || types_.kind(t) == TypeKind::Bool ? ""
                                                               : name(t) + " is neither integer nor bool";
  }
  std::string number(TypeId t) const {
    return types_.isInt(t) || types_.isFloat(t) ? "" : name(t) + " is no number";
  }
  std::string same(size_t operands) const {
    std::string wrong = shape(operands, 1);
    for (size_t i = 0; wrong.empty() && i < operands; ++i) wrong = is(operand(i), result());
    return wrong;
  }
  std::string sameButDims(TypeId a, TypeId b) const {
    const types::Type &x = types_[a], &y = types_[b];
    bool equal = x.kind == y.kind && x.parts.size() == y.parts.size() && x.dims.size() == y.dims.size() &&
                 x.record == y.record && x.known == y.known && x.number == y.number;
    for (size_t i = 0; equal && i < x.parts.size(); ++i) equal = sameButDims(x.parts[i], y.parts[i]).empty();
    if (equal && x.result.valid()) equal = sameButDims(x.result, y.result).empty();
    return equal ? "" : name(a) + " and " + name(b) + " differ in more than dims";
  }

  std::string constant() const {
    if (!std::holds_alternative<Constant>(op_.attr)) return "has no constant";
    TypeKind k = types_.kind(result());
    bool fits =
        types_.isScalar(result()) || k == TypeKind::Str || k == TypeKind::Exit || types_.isUnit(result());
    return first({shape(0, 1), fits ? "" : "a constant of type " + name(result())});
  }
  std::string list(const std::vector<TypeId>& want) const {
    if (op_.operands.size() != want.size()) return "needs " + std::to_string(want.size()) + " operands";
    for (size_t i = 0; i < want.size(); ++i)
      if (std::string wrong = is(operand(i), want[i]); !wrong.empty()) return wrong;
    return {};
  }
  std::vector<TypeId> fieldTypes(TypeId t, uint32_t c) const {
    std::vector<TypeId> out;
    for (uint32_t k = 0; k < types_.recordInfo(types_[t].record).cases[c].fields.size(); ++k)
      out.push_back(types_.fieldType(t, c, k));
    return out;
  }
  std::vector<TypeId> partTypes(TypeId product) const {
    std::vector<TypeId> out;
    for (uint32_t k = 0, n = types::partsOf(types_, product); k < n; ++k)
      out.push_back(types::partOf(types_, product, k));
    return out;
  }
  std::string make() const {
    if (canMake(m_, result())) return list(partTypes(result()));
    return "makes a tuple, a struct or, where records are flat, an enum or an array of them, not " +
           name(result());
  }
  std::string variant() const {
    const types::Type& t = types_[result()];
    if (t.kind != TypeKind::Enum) return name(result()) + " is no enum";
    if (op_.index() >= types_.recordInfo(t.record).cases.size()) return "no such case";
    return list(fieldTypes(result(), op_.index()));
  }
  std::string pack() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    const types::Type& t = types_[result()];
    if (t.kind != TypeKind::Pack || t.number != op_.dims.size()) return "does not make " + name(result());
    return is(operand(0), types_.openPack(result(), op_.dims));
  }
  std::string unpack() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    const types::Type& t = types_[operand(0)];
    if (t.kind != TypeKind::Pack || t.number != op_.resultDims.size())
      return "does not take " + name(operand(0));
    std::vector<DimId> own;
    for (DimSym s : op_.resultDims) own.push_back(types_.dims.symbol(s));
    return is(result(), types_.openPack(operand(0), own));
  }
  std::string known() const {
    return types_.kind(result()) == TypeKind::Known ? list(types_[result()].parts) : "makes a known function";
  }
  std::string capture() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    const types::Type& t = types_[operand(0)];
    if (t.kind != TypeKind::Known || op_.index() >= t.parts.size()) return "no such capture";
    return is(result(), t.parts[op_.index()]);
  }
  std::string closure() const {
    if (op_.results.size() != 1 || types_.kind(result()) != TypeKind::Function)
      return "makes a function value";
    const Function& callee = m_.functions[op_.as<CallAttr>().callee];
    size_t params = callee.params().size(), visible = types_[result()].parts.size();
    return params == op_.operands.size() + visible ? "" : "captures do not fit the callee";
  }
  std::string get() const {
    if (op_.operands.empty() || op_.results.size() != 1) return "needs a value";
    if (types_.kind(operand(0)) == TypeKind::Acc) return "an accumulator cannot be read";
    return path(1, result());
  }
  std::string update() const {
    if (op_.operands.size() < 2 || op_.results.size() != 1) return "needs a value and what is put there";
    if (op_.kind == OpKind::Set && types_.kind(operand(0)) == TypeKind::Acc)
      return "an accumulator is only added to";
    return first({is(result(), operand(0)), path(2, operand(1))});
  }
  std::string path(size_t fixed, TypeId place) const {
    const auto& p = op_.as<Path>();
    if (op_.operands.size() != fixed + pathOperands(p)) return "needs one operand for each index of its path";
    for (size_t i = fixed; i < op_.operands.size(); ++i)
      if (operand(i) != types_.int64()) return "an index is a " + name(operand(i));
    std::string problem;
    std::optional<TypeId> t = pathType(types_, operand(0), p, &problem);
    if (!t) return problem;
    if (entersMany(p)) return "a step into an array needs an index of each axis";
    return first({order(p), is(place, *t)});
  }
  /// Arrays of records are entered as the module keeps them (Module::recordsFlat).
  std::string order(const Path& p) const {
    if (m_.recordsFlat)
      return samePath(p, fieldsFirst(types_, operand(0), p))
                 ? ""
                 : "an index stands before the field of its array";
    return samePath(p, indicesFirst(types_, operand(0), p)) ? ""
                                                            : "a field stands before the index of its array";
  }
  /// Whether a step goes into several elements of an array at once that is not an array for each part.
  bool entersMany(const Path& p) const {
    for (size_t k = 0; k < p.size(); ++k) {
      if (isIndexLike(p[k].kind)) continue;
      const TypeId at =
          *pathType(types_, operand(0), {p.begin(), p.begin() + static_cast<std::ptrdiff_t>(k)});
      if (types_.kind(at) != TypeKind::Array) continue;
      if (p[k].kind != StepKind::Field || !types::isFlattened(types_, at)) return true;
    }
    return false;
  }
  std::string reshape() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    const bool areArrays =
        types_.kind(operand(0)) == TypeKind::Array && types_.kind(result()) == TypeKind::Array;
    return areArrays ? is(types_.element(operand(0)), types_.element(result())) : "wants arrays";
  }
  std::string arrayOf() const {
    if (op_.operands.empty()) return "needs elements";
    for (size_t i = 1; i < op_.operands.size(); ++i)
      if (std::string wrong = is(operand(i), operand(0)); !wrong.empty()) return wrong;
    auto n = static_cast<int64_t>(op_.operands.size());
    return is(result(), types_.array(operand(0), {types_.dims.constant(n)}));
  }
  std::string math() const {
    auto kind = static_cast<ops::MathKind>(op_.index());
    return first({same(ops::mathArity(kind)), isFloat(result())});
  }
  std::string directed() const {
    return first({same(ops::directedArity(static_cast<ops::DirectedKind>(op_.index()))),
                  is(result(), types_.scalar(TypeKind::F64))});
  }
  std::string compare() const {
    if (std::string wrong = shape(2, 1); !wrong.empty()) return wrong;
    TypeId t = operand(0);
    TypeKind k = types_.kind(t);
    bool fits = types_.isScalar(t) || k == TypeKind::Str || k == TypeKind::Exit;
    return first(
        {is(operand(1), t), is(result(), types_.boolean()), fits ? "" : "compares scalars, not " + name(t)});
  }
  std::string select() const {
    if (std::string wrong = shape(3, 1); !wrong.empty()) return wrong;
    return first({is(operand(0), types_.boolean()), is(operand(1), result()), is(operand(2), result())});
  }
  std::string convert() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    auto fits = [&](TypeId t) { return types_.isScalar(t); };
    return fits(operand(0)) && fits(result()) ? "" : "converts scalars";
  }
  std::string bitcast() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    unsigned a = types::scalarBits(types_.kind(operand(0))), b = types::scalarBits(types_.kind(result()));
    return a == b && a > 0 ? "" : "the sizes differ";
  }
  std::string checkOp(size_t results) const {
    static constexpr struct {
      size_t operands;
      int dims;
    } counts[] = {
#define CHECK(Kind, Name, Operands, Dims, Message) {Operands, Dims},
#include "core/ir/checks.def"
    };
    const auto& c = op_.as<CheckAttr>();
    auto want = counts[static_cast<size_t>(c.kind)];
    bool text = c.kind == CheckKind::Assert && op_.operands.size() == 2;
    auto least = static_cast<size_t>(std::abs(want.dims));
    return first(
        {shape(want.operands + text, results), dims(want.dims < 0 ? std::max(op_.dims.size(), least) : least)});
  }
  std::string argSort() const {
    if (std::string wrong = shape(1, 1); !wrong.empty()) return wrong;
    if (types_.rank(operand(0)) != 1) return "sorts arrays of rank 1";
    return is(result(), types_.array(types_.int64(), {types_[operand(0)].dims[0]}));
  }
  std::string listOf() const {
    if (op_.results.size() != 1 || types_.kind(result()) != TypeKind::List) return "makes a list";
    return list(std::vector<TypeId>(op_.operands.size(), inner(result())));
  }
  std::string format() const {
    const std::string& spec = op_.as<FormatAttr>().spec;
    size_t numbers = 0;
    for (size_t at = 0; (at = spec.find("{}", at)) != std::string::npos; at += 2) ++numbers;
    std::string wrong = first({shape(1 + numbers, 1), is(result(), types_.str())});
    for (size_t k = 1; wrong.empty() && k <= numbers; ++k) wrong = is(operand(k), types_.int64());
    return wrong;
  }
  std::string toArray() const {
    if (std::string wrong = first({shape(1, 1), defines(1), isList(operand(0))}); !wrong.empty())
      return wrong;
    return is(result(), types_.array(inner(operand(0)), {types_.dims.symbol(op_.resultDims[0])}));
  }
  std::string toList() const {
    if (std::string wrong = first({shape(1, 1), isList(result())}); !wrong.empty()) return wrong;
    const types::Type& t = types_[operand(0)];
    if (t.kind != TypeKind::Array) return "takes an array";
    return is(inner(result()), types_.array(t.parts[0], {t.dims.begin() + 1, t.dims.end()}));
  }
  std::string call() const {
    const Function& callee = m_.functions[op_.as<CallAttr>().callee];
    if (!callee.body.valid()) return "calls a function without a body";
    if (callee.dimParams.size() != op_.dims.size() || callee.resultDims.size() != op_.resultDims.size() ||
        callee.params().size() != op_.operands.size() || callee.results.size() != op_.results.size())
      return "does not fit the signature of " + callee.name;
    types::DimSubst subst;
    for (size_t i = 0; i < op_.dims.size(); ++i) subst.emplace(callee.dimParams[i], op_.dims[i]);
    for (size_t i = 0; i < op_.operands.size(); ++i) {
      TypeId want = types_.substitute(callee.typeOf(callee.params()[i]), subst);
      if (std::string wrong = is(operand(i), want); !wrong.empty())
        return "argument " + std::to_string(i) + ": " + wrong;
    }
    for (size_t i = 0; i < op_.resultDims.size(); ++i)
      subst.insert_or_assign(callee.resultDims[i], types_.dims.symbol(op_.resultDims[i]));
    for (size_t i = 0; i < op_.results.size(); ++i) {
      std::string wrong = is(result(i), types_.substitute(callee.results[i], subst));
      if (!wrong.empty()) return "result " + std::to_string(i) + ": " + wrong;
    }
    return {};
  }

  const Module& m_;
  const Function& f_;
  const Op& op_;
  types::TypeStore& types_;
};

} // namespace

std::string checkOpTypes(const Module& m, const Function& f, const Op& op) {
  return TypeRule(m, f, op).check();
}

} // namespace melix::core
