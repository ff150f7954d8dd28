#pragma once
// A generated program as a tree: what the generator makes, the writer prints, the evaluator runs and the
// shrinker cuts.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace melix::fuzz::programs {

enum class Kind : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F32,
  F64, // scalars first
  Unit,
  Variable,
  Array,
  List,
  Tuple,
  Struct,
  Enum,
  Function
};

struct TypeData;
using Type = std::shared_ptr<const TypeData>;
/// Types are equal iff their texts are.
struct TypeData {
  Kind kind;
  std::string name;              ///< of a struct, an enum, a type parameter
  std::vector<Type> parts;       ///< of a tuple; the element; parameters and, last, the result
  std::vector<std::string> dims; ///< of an array: numbers or names
  std::string text;
};

Type scalar(Kind kind);
Type unit();
Type arrayOf(Type element, std::vector<std::string> dims);
Type listOf(Type element);
Type tupleOf(std::vector<Type> parts);
Type functionOf(std::vector<Type> parameters, Type result);
Type structOf(const std::string& name);
Type enumOf(const std::string& name);
Type variableOf(const std::string& name);

inline bool same(const Type& a, const Type& b) { return a == b || a->text == b->text; }
inline bool isScalar(const Type& t) { return t->kind <= Kind::F64; }
inline bool isFloat(Kind k) { return k == Kind::F32 || k == Kind::F64; }
inline bool isInteger(Kind k) { return k >= Kind::I8 && k <= Kind::U64; }
inline bool isSigned(Kind k) { return k >= Kind::I8 && k <= Kind::I64; }
inline bool isNumber(Kind k) { return isInteger(k) || isFloat(k); }
/// Whether values have a text: nothing in them is a function.
bool printable(const Type& t);
unsigned bitsOf(Kind k);
/// Whether a size is a number, and which.
bool isNumeral(const std::string& dim);
/// The type with sizes and type parameters replaced by name.
Type replaced(const Type& type, const std::function<std::string(const std::string&)>& dim,
              const std::function<Type(const std::string&)>& variable = {});

enum class Form : uint8_t {
#define FORM(Kind, Name) Kind,
#include "fuzz/programs/forms.def"
};
const char* nameOf(Form form);

struct Node;
using NodePtr = std::shared_ptr<Node>;
struct Node {
  Form form;
  Type type; ///< of an expression; the unit type of a statement
  std::string name;
  std::vector<NodePtr> kids;
  std::vector<std::string> names;
  Type asked; ///< the type written at a `let`
  int64_t integer = 0;
  double real = 0;
  bool flag = false;
};

NodePtr make(Form form, Type type, std::vector<NodePtr> kids = {}, std::string name = {});
NodePtr literal(Type type, int64_t integer, double real = 0, bool own = true);
NodePtr number(int64_t integer); ///< of type int, where one is asked for
NodePtr nameOf(const std::string& name, Type type);
/// The size as an expression of type int.
NodePtr sizeValue(const std::string& dim);
NodePtr block(std::vector<NodePtr> statements, NodePtr value = nullptr);
NodePtr clone(const NodePtr& node);

struct Parameter {
  std::string name;
  Type type;
  bool isInout = false;
};
struct Function {
  std::string name;
  std::vector<std::string> sizes;     ///< dimension variables of the parameters
  std::vector<std::string> variables; ///< type parameters, all numbers
  std::vector<Parameter> parameters;
  Type result;
  NodePtr body;           ///< a block
  double cost = 1;        ///< nodes that one call evaluates, guessed
  bool recursive = false; ///< its first parameter counts down to 0
  bool smooth = false;    ///< of what it is given, as far as floats go
};
struct Record {
  std::string name;
  std::vector<std::pair<std::string, Type>> fields;
};
struct Choice {
  std::string name;
  std::vector<Record> cases;
};

struct Program {
  std::vector<Record> structs;
  std::vector<Choice> enums;
  std::vector<std::shared_ptr<Function>> functions;
  NodePtr script;
  bool strict = false; ///< run with --strict-fp

  const Record* findStruct(const std::string& name) const;
  const Choice* findEnum(const std::string& name) const;
  const Record* findCase(const std::string& name, const Choice** of = nullptr) const;
  const Function* findFunction(const std::string& name) const;
};

Program clone(const Program& program);
/// Calls `visit` for every node of the program, those around first.
void walk(const NodePtr& node, const std::function<void(const NodePtr&)>& visit);
void walk(const Program& program, const std::function<void(const NodePtr&)>& visit);

} // namespace melix::fuzz::programs
