#include "fuzz/programs/tree.h"

#include <algorithm>
#include <cctype>

namespace melix::fuzz::programs {

namespace {

constexpr const char* scalarNames[] = {"bool", "i8",  "i16", "i32", "int", "u8",
                                       "u16",  "u32", "u64", "f32", "f64"};

Type makeType(Kind kind, std::string text, std::vector<Type> parts = {}, std::vector<std::string> dims = {},
              std::string name = {}) {
  return std::make_shared<TypeData>(
      TypeData{kind, std::move(name), std::move(parts), std::move(dims), std::move(text)});
}

std::string joined(const std::vector<Type>& types, size_t count) {
  std::string out;
  for (size_t k = 0; k < count; ++k) out += (k ? ", " : "") + types[k]->text;
  return out;
}

} // namespace

Type scalar(Kind kind) {
  static const std::vector<Type> all = [] {
    std::vector<Type> out;
    for (size_t k = 0; k <= static_cast<size_t>(Kind::F64); ++k)
      out.push_back(makeType(static_cast<Kind>(k), scalarNames[k]));
    return out;
  }();
  return all[static_cast<size_t>(kind)];
}

Type unit() {
  static const Type type = makeType(Kind::Unit, "()");
  return type;
}

Type arrayOf(Type element, std::vector<std::string> dims) {
  if (element->kind == Kind::Array) {
    dims.insert(dims.end(), element->dims.begin(), element->dims.end());
    element = element->parts[0];
  }
  std::string text = element->kind == Kind::Function ? "(" + element->text + ")" : element->text;
  text += "[";
  for (size_t k = 0; k < dims.size(); ++k) text += (k ? ", " : "") + dims[k];
  return makeType(Kind::Array, text + "]", {std::move(element)}, std::move(dims));
}

Type listOf(Type element) {
  std::string text = "List[" + element->text + "]";
  return makeType(Kind::List, std::move(text), {std::move(element)});
}

Type tupleOf(std::vector<Type> parts) {
  std::string text = "(" + joined(parts, parts.size()) + ")";
  return makeType(Kind::Tuple, std::move(text), std::move(parts));
}

Type functionOf(std::vector<Type> parameters, Type result) {
  std::string text = "(" + joined(parameters, parameters.size()) + ") -> " + result->text;
  parameters.push_back(std::move(result));
  return makeType(Kind::Function, std::move(text), std::move(parameters));
}

Type structOf(const std::string& name) { return makeType(Kind::Struct, name, {}, {}, name); }
Type enumOf(const std::string& name) { return makeType(Kind::Enum, name, {}, {}, name); }
Type variableOf(const std::string& name) { return makeType(Kind::Variable, name, {}, {}, name); }

bool printable(const Type& t) {
  return t->kind != Kind::Function && std::all_of(t->parts.begin(), t->parts.end(), printable);
}

unsigned bitsOf(Kind k) {
  switch (k) {
  case Kind::Bool: return 1;
  case Kind::I8:
  case Kind::U8: return 8;
  case Kind::I16:
  case Kind::U16: return 16;
  case Kind::I32:
  case Kind::U32:
  case Kind::F32: return 32;
  default: return 64;
  }
}

bool isNumeral(const std::string& dim) { return std::isdigit(static_cast<unsigned char>(dim[0])) != 0; }

Type replaced(const Type& type, const std::function<std::string(const std::string&)>& dim,
              const std::function<Type(const std::string&)>& variable) {
  std::vector<Type> parts;
  for (const Type& part : type->parts) parts.push_back(replaced(part, dim, variable));
  switch (type->kind) {
  case Kind::Variable: return variable ? variable(type->name) : type;
  case Kind::Array: {
    std::vector<std::string> dims;
    for (const std::string& d : type->dims) dims.push_back(isNumeral(d) ? d : dim(d));
    return arrayOf(parts[0], std::move(dims));
  }
  case Kind::List: return listOf(parts[0]);
  case Kind::Tuple: return tupleOf(std::move(parts));
  case Kind::Function: {
    Type result = parts.back();
    parts.pop_back();
    return functionOf(std::move(parts), std::move(result));
  }
  default: return type;
  }
}

const char* nameOf(Form form) {
  static constexpr const char* names[] = {
#define FORM(Kind, Name) Name,
#include "fuzz/programs/forms.def"
  };
  return names[static_cast<size_t>(form)];
}

NodePtr make(Form form, Type type, std::vector<NodePtr> kids, std::string name) {
  auto node = std::make_shared<Node>();
  node->form = form;
  node->type = std::move(type);
  node->kids = std::move(kids);
  node->name = std::move(name);
  node->integer = form == Form::Builtin ? -1 : 0;
  return node;
}

NodePtr literal(Type type, int64_t integer, double real, bool own) {
  NodePtr node = make(Form::Literal, std::move(type));
  node->integer = integer;
  node->real = real;
  node->flag = own;
  return node;
}

NodePtr number(int64_t integer) { return literal(scalar(Kind::I64), integer, 0, false); }

NodePtr nameOf(const std::string& name, Type type) { return make(Form::Name, std::move(type), {}, name); }

NodePtr sizeValue(const std::string& dim) {
  return isNumeral(dim) ? number(std::stoll(dim)) : nameOf(dim, scalar(Kind::I64));
}

NodePtr block(std::vector<NodePtr> statements, NodePtr value) {
  Type type = value ? value->type : unit();
  bool has = value != nullptr;
  if (value) statements.push_back(std::move(value));
  NodePtr node = make(Form::Block, std::move(type), std::move(statements));
  node->flag = has;
  return node;
}

NodePtr clone(const NodePtr& node) {
  if (!node) return nullptr;
  auto out = std::make_shared<Node>(*node);
  for (NodePtr& kid : out->kids) kid = clone(kid);
  return out;
}

const Record* Program::findStruct(const std::string& name) const {
  for (const Record& r : structs)
    if (r.name == name) return &r;
  return nullptr;
}

const Choice* Program::findEnum(const std::string& name) const {
  for (const Choice& e : enums)
    if (e.name == name) return &e;
  return nullptr;
}

const Record* Program::findCase(const std::string& name, const Choice** of) const {
  for (const Choice& e : enums)
    for (const Record& c : e.cases)
      if (c.name == name) {
        if (of) *of = &e;
        return &c;
      }
  return nullptr;
}

const Function* Program::findFunction(const std::string& name) const {
  for (const auto& f : functions)
    if (f->name == name) return f.get();
  return nullptr;
}

Program clone(const Program& program) {
  Program out = program;
  for (auto& f : out.functions) {
    f = std::make_shared<Function>(*f);
    f->body = clone(f->body);
  }
  out.script = clone(out.script);
  return out;
}

void walk(const NodePtr& node, const std::function<void(const NodePtr&)>& visit) {
  if (!node) return;
  visit(node);
  for (const NodePtr& kid : node->kids) walk(kid, visit);
}

void walk(const Program& program, const std::function<void(const NodePtr&)>& visit) {
  for (const auto& f : program.functions) walk(f->body, visit);
  walk(program.script, visit);
}

} // namespace melix::fuzz::programs
