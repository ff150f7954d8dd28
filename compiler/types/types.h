#pragma once
// Types, interned: two types are equal iff their ids are. Shared by the checker and Core.
//
// Types are monomorphic in element types and ranks and polymorphic in dimensions only; a record (struct or
// enum) is declared once for each choice of its type arguments and has symbolic dimension parameters. Sizes
// inside the arguments are parameters too: `Option[f64[3]]` is the record of `Option[f64[#]]` at 3.

#include "support/function_ref.h"
#include "support/interner.h"
#include "types/dims.h"

#include <functional>

namespace melix::types {

struct TypeTag;
struct RecordTag;
struct KnownTag;
using TypeId = Id<TypeTag>;
using RecordId = Id<RecordTag>;
/// Identity of a template value (lambda, function name, transform of one). Its meaning is kept by `check`.
using KnownId = Id<KnownTag>;

enum class TypeKind : uint8_t {
#define SCALAR(Kind, Text, Bits, Class) Kind,
#define TYPE(Kind) Kind,
#include "types/types.def"
};

enum class ScalarClass : uint8_t { None, Bool, Char, SInt, UInt, Float, Complex };
ScalarClass scalarClass(TypeKind kind);
/// 0 for kinds that are no scalars.
unsigned scalarBits(TypeKind kind);
std::string_view scalarName(TypeKind kind);
inline bool isFloatKind(TypeKind k) { return scalarClass(k) == ScalarClass::Float; }
inline bool isIntKind(TypeKind k) {
  return scalarClass(k) == ScalarClass::SInt || scalarClass(k) == ScalarClass::UInt;
}

enum class VarClass : uint8_t { Any, OpenInt, OpenFloat };

/// The operations common to all types that a type parameter may stand for; each class includes the ones
/// before it.
enum class ParamClass : uint8_t {
  Any,     ///< no bound: values that are passed on, and their tangents
  Data,    ///< a text
  Equal,   ///< `==`, which gives one bool
  Ordered, ///< `<`
  Number,  ///< arithmetic, whole literals
  Int,     ///< a Number and bits
  Float,   ///< a Number and functions of reals
};

/// A type parameter as its declaration gives it.
struct TypeParam {
  NameId name = {};
  ParamClass cls = ParamClass::Any;
  bool isBounded = false;
  bool differentiable = false; ///< known to have a tangent other than ()
  bool hashed = false;         ///< known to be a key: nothing in it is a float
  Span origin = {};
};

struct Type {
  TypeKind kind = TypeKind::Error;
  std::vector<TypeId>
      parts; ///< Tuple parts; Known captures; Function parameters; Array/List/Pack/Acc/Slope: [inner]
  std::vector<DimId> dims; ///< Array extents; Struct/Enum dimension arguments, those in type arguments last
  TypeId result;           ///< of Function
  std::vector<bool> inout; ///< of Function, one for each parameter
  RecordId record;         ///< of Struct and Enum
  KnownId known;           ///< of Known
  uint32_t number = 0;     ///< Pack: count of hidden dims; Var, Param: its id
  bool operator==(const Type&) const = default;
};

struct Field {
  NameId name; ///< none for a positional payload
  TypeId type; ///< in terms of the record's dimension parameters
};

struct EnumCase {
  NameId name;
  std::vector<Field> fields;
};

/// The structs of the library that the language knows: `Dict[K, V]`, and `Set[T]`, which holds one.
enum class RecordForm : uint8_t { Plain, Dict, Set };
/// The fields of a Dict. Its entries are the pairs of keys and values in the order they were first inserted.
enum class DictField : uint8_t { Table, Entries, Gone, Bits };

/// A struct (one case, without a name of its own) or an enum, at given type arguments.
struct Record {
  NameId name;
  bool isEnum = false;
  RecordForm form = RecordForm::Plain;
  uint32_t declaration = 0;      ///< identity of the declaring item, given by the checker
  std::vector<TypeId> typeArgs;  ///< in terms of the last parameters; of a type: TypeStore::typeArgs
  std::vector<DimSym> dimParams; ///< fields mention these
  size_t argSizes = 0;           ///< how many parameters, the last, are sizes in typeArgs
  std::vector<EnumCase> cases;   ///< a struct has exactly one
  bool isReplaced = false;       ///< its name means another one by now
  RecordId tangentOf;            ///< set when this is a derived tangent record
  bool isPositional = false;     ///< of one that is derived: as positionalTangent gives it
  bool isSaved =
      false; ///< a record that a pullback keeps: fields come with expand_derivatives, and may carry tangents
  Span origin;

  /// The count of parameters that the declaration names.
  size_t ownDims() const { return dimParams.size() - argSizes; }
};

/// How the values of an enum lie flat (flat_enums.h).
struct FlatEnum {
  TypeId tag;                                 ///< of the number of a case: a bool, u8 or i32
  std::vector<TypeId> slots;                  ///< in terms of the record's dimension parameters
  std::vector<std::vector<uint32_t>> slotsOf; ///< of each case: the slot of each leaf of its fields, in order
};

/// Facts that follow from records: the records that tangent.cpp derives, and how enums lie.
struct DerivedRecords {
  std::unordered_map<RecordId, RecordId> tangents, positional;
  std::unordered_map<RecordId, std::optional<FlatEnum>> flatEnums; ///< kept by flat_enums.cpp
  /// The Dict with the keys of this one and values of that type; given by the checker, which declares Dicts.
  std::function<TypeId(TypeId dict, TypeId values)> dictOfValues;
};

/// Owns types, records and dimensions of a session.
class TypeStore {
public:
  explicit TypeStore(Interner& names);

  DimStore dims;
  Interner& names;

  TypeId intern(Type type);
  const Type& operator[](TypeId id) const { return *types_[id.index]; }
  TypeKind kind(TypeId id) const { return types_[id.index]->kind; }

  TypeId scalar(TypeKind kind) const { return simple_[static_cast<size_t>(kind)]; }
  TypeId error() { return scalar(TypeKind::Error); }
  TypeId never() { return scalar(TypeKind::Never); }
  TypeId boolean() { return scalar(TypeKind::Bool); }
  TypeId int64() { return scalar(TypeKind::I64); }
  TypeId str() { return scalar(TypeKind::Str); }
  TypeId exit() { return scalar(TypeKind::Exit); }
  TypeId unit() { return unit_; }
  /// Flattens: an array of arrays `T[M][N]` is `T[N, M]` (rule 7); no dims give `element` itself (`f32[]` is
  /// `f32`).
  TypeId array(TypeId element, std::vector<DimId> dims);
  TypeId tuple(std::vector<TypeId> parts);
  TypeId record(RecordId record, std::vector<DimId> dims); ///< a Struct or an Enum
  /// The type arguments of a Struct or an Enum, with its sizes.
  const std::vector<TypeId>& typeArgs(TypeId record) const;
  /// Type arguments with a symbol for each size, the same for all of one structure: the first of `sizeSyms`.
  /// The sizes that the symbols replace are added to `sizes`. Sizes that a pack hides stay.
  std::vector<TypeId> generalised(std::vector<TypeId> typeArgs, std::vector<DimId>& sizes);
  std::vector<DimSym> sizeSyms(size_t count);
  TypeId list(TypeId element);
  TypeId function(std::vector<TypeId> params, std::vector<bool> inout, TypeId result);
  TypeId known(KnownId id, std::vector<TypeId> captures);
  TypeId acc(TypeId inner);
  TypeId var(uint32_t id);
  TypeId param(TypeParam declared); ///< a type that is no other's
  TypeId slope(TypeId param);
  /// Hides `hidden` (distinct symbols, in order) in `inner`; no symbols give `inner`.
  TypeId pack(TypeId inner, std::span<const DimSym> hidden);
  /// The inner type of a pack with its hidden dims replaced by `dims`.
  TypeId openPack(TypeId pack, std::span<const DimId> dims);
  /// The canonical Bound symbol number `i`.
  DimSym boundSym(uint32_t i);

  RecordId addRecord(Record record) { return records_.add(std::move(record)); }
  DerivedRecords derived;
  Record& recordInfo(RecordId id) { return records_[id]; }
  const Record& recordInfo(RecordId id) const { return records_[id]; }
  /// Type of field `k` of case `c` with the record's dims substituted (D7).
  TypeId fieldType(TypeId recordType, uint32_t c, uint32_t k);

  const TypeParam& paramInfo(TypeId id) const { return params_[(*this)[id].number]; }
  bool isParam(TypeId id) const { return kind(id) == TypeKind::Param; }
  bool isDict(TypeId id) const { return hasForm(id, RecordForm::Dict); }
  bool isSet(TypeId id) const { return hasForm(id, RecordForm::Set); }
  /// Whether a type parameter stands for types that have all this.
  bool offers(TypeId id, ParamClass cls) const;
  /// Whether a type of this kind is anywhere inside, arguments of records included.
  bool holds(TypeId id, TypeKind kind) const;

  /// Of type parameters too, where these stand for nothing else.
  bool isScalar(TypeId id) const;
  bool isFloat(TypeId id) const { return isFloatKind(kind(id)) || offers(id, ParamClass::Float); }
  bool isInt(TypeId id) const { return isIntKind(kind(id)) || offers(id, ParamClass::Int); }
  bool isNumber(TypeId id) const { return isInt(id) || isFloat(id) || offers(id, ParamClass::Number); }
  bool isUnit(TypeId id) const { return id == unit_; }
  /// Whether a value of the type has a part of one of these kinds, fields of records included.
  bool isMadeWith(TypeId id, FunctionRef<bool(TypeKind)> wanted) const;
  /// Whether a function value is anywhere inside.
  bool holdsFunction(TypeId id) const;
  /// How many types a type is made of, each counted wherever it stands, with the fields of records; a record
  /// inside of itself counts as one. Counting ends above `mostParts`.
  size_t partCount(TypeId id) const;
  /// Types are shared, so that a short program makes any number of parts; a value has one of each.
  static constexpr size_t mostParts = 100'000;
  /// Whether a value, its elements or a part of a tuple keeps sizes beside it.
  bool keepsSizes(TypeId id) const;
  /// The element of an array, else the type itself.
  TypeId element(TypeId id) const;
  size_t rank(TypeId id) const;

  TypeId substitute(TypeId id, const DimSubst& subst);
  /// Rebuilds a type bottom-up through `map` (given a type whose parts are already mapped). A part that
  /// occurs several times is rebuilt once.
  TypeId rewrite(TypeId id, FunctionRef<TypeId(TypeId)> map);
  void collectSymbols(TypeId id, std::vector<DimSym>& out) const;
  /// The type with unknown sizes: layouts depend on this form. Dimension `k` of each type in it is
  /// boundSym(k), so a field has a number for a size only where its declaration does. That two types in it have
  /// a symbol in common says nothing. In this form the types that a type reaches are finitely many, although a
  /// node for size N may hold nodes for N - 1.
  TypeId eraseDims(TypeId id);
  /// Source-like text: `f32[B, 2*N]`, `Mlp[64, H, 10]`.
  std::string print(TypeId id) const;
  /// The same with dimensions as the source spells them, for messages: `…` for long ones.
  std::string show(TypeId id) const;

private:
  struct Hash {
    size_t operator()(const Type& t) const;
  };
  bool hasForm(TypeId id, RecordForm form) const {
    return kind(id) == TypeKind::Struct && recordInfo((*this)[id].record).form == form;
  }
  void keepArgs(TypeId record);
  bool isMadeWith(TypeId id, FunctionRef<bool(TypeKind)> wanted, std::vector<RecordId>& seen) const;
  const std::vector<DimSym>& symbolsOf(TypeId id) const;
  void collectAround(const Type& pack, std::vector<DimSym>& out) const;
  std::vector<const Type*> types_;
  std::unordered_map<Type, TypeId, Hash> ids_;
  Store<RecordId, Record> records_;
  std::unordered_map<TypeId, std::vector<TypeId>> args_; ///< of records whose arguments have sizes
  std::vector<DimSym> sizeSyms_;
  mutable std::unordered_map<TypeId, size_t> partCounts_;           ///< kept by part_count.cpp
  mutable std::unordered_map<TypeId, std::vector<DimSym>> symbols_; ///< in a type, in order
  friend class PartCounter;
  std::vector<TypeId> simple_;
  std::vector<TypeParam> params_;
  std::vector<DimSym> bound_;
  TypeId unit_;
};

/// A type in terms of the parameters of a record, with the sizes of a type of it.
TypeId withSizesOf(TypeStore& types, TypeId recordType, TypeId declared);

} // namespace melix::types
