#include "fuzz/programs/write.h"

#include <charconv>

namespace melix::fuzz::programs {

namespace {

std::string realText(double value) {
  if (value != value) return "nan";
  if (value == value + value && value != 0) return value > 0 ? "inf" : "-inf";
  char text[40];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string out(text, end);
  bool fraction = out.find_first_of(".e") != std::string::npos;
  size_t plus = out.find("e+");
  if (plus != std::string::npos) out.erase(plus + 1, 1);
  return fraction ? out : out + ".0";
}

struct Writer {
  std::string out;
  int depth = 0;

  void line() {
    out += '\n';
    out.append(static_cast<size_t>(depth) * 2, ' ');
  }

  void list(const std::vector<NodePtr>& kids, size_t from, size_t to) {
    for (size_t k = from; k < to; ++k) {
      if (k > from) out += ", ";
      expression(kids[k]);
    }
  }
  void list(const std::vector<NodePtr>& kids) { list(kids, 0, kids.size()); }

  void names(const std::vector<std::string>& all) {
    for (size_t k = 0; k < all.size(); ++k) out += (k ? ", " : "") + all[k];
  }

  void literal(const Node& n) {
    std::string text;
    switch (n.type->kind) {
    case Kind::Bool: out += n.integer ? "true" : "false"; return;
    case Kind::F32:
    case Kind::F64: text = realText(n.real); break;
    case Kind::U64: text = std::to_string(static_cast<uint64_t>(n.integer)); break;
    default: text = std::to_string(n.integer);
    }
    bool negative = text[0] == '-';
    if (n.flag)
      out += "(" + text + " as " + n.type->text + ")";
    else
      out += negative ? "(" + text + ")" : text;
  }

  /// What may stand in front of a bracket, a point or a parenthesis.
  void primary(const NodePtr& n) {
    bool plain = n->form == Form::Name || n->form == Form::Field || n->form == Form::Index ||
                 n->form == Form::Call || n->form == Form::Part || n->form == Form::Builtin;
    if (!plain) out += "(";
    expression(n);
    if (!plain) out += ")";
  }

  void headers(const Node& n) {
    size_t count = n.kids.size() - 1 - (n.flag ? 1 : 0);
    for (size_t k = 0; k < count; ++k) {
      out += k ? ", " : "for ";
      header(*n.kids[k]);
    }
    if (n.flag) {
      out += " if ";
      expression(n.kids[count]);
    }
    out += ": ";
    expression(n.kids.back());
  }

  void header(const Node& n) {
    if (n.form == Form::Walk) {
      if (n.names.size() == 2) {
        out += "(" + n.names[0] + ", " + n.names[1] + ") in enumerate(";
        expression(n.kids[0]);
        out += ")";
        return;
      }
      out += n.names[0] + " in ";
      expression(n.kids[0]);
      return;
    }
    out += n.name;
    if (n.integer == 1) return;
    out += " in ";
    expression(n.kids[0]);
    out += "..";
    expression(n.kids[1]);
    if (!n.flag) return;
    out += " step ";
    expression(n.kids[2]);
  }

  void builtin(const Node& n) {
    out += n.name + "(";
    list(n.kids);
    if (n.integer >= 0) out += ", over: " + std::to_string(n.integer);
    out += ")";
  }

  void slice(const Node& n) {
    expression(n.kids[0]);
    out += "..";
    if (n.kids.size() > 1) expression(n.kids[1]);
    if (n.kids.size() < 3) return;
    out += " step ";
    expression(n.kids[2]);
  }

  void branch(const NodePtr& n) {
    if (n->form == Form::Block) return block(*n);
    out += "{ ";
    expression(n);
    out += " }";
  }

  void branches(const Node& n) {
    out += "if ";
    expression(n.kids[0]);
    out += " ";
    branch(n.kids[1]);
    if (n.kids.size() < 3) return;
    out += " else ";
    branch(n.kids[2]);
  }

  void match(const Node& n) {
    out += "match ";
    expression(n.kids[0]);
    out += " {";
    ++depth;
    for (size_t k = 1; k < n.kids.size(); ++k) {
      line();
      const Node& arm = *n.kids[k];
      out += arm.name.empty() ? std::to_string(arm.integer) : arm.name;
      if (!arm.names.empty()) {
        out += "(";
        names(arm.names);
        out += ")";
      }
      if (arm.flag) {
        out += " if ";
        expression(arm.kids[0]);
      }
      out += " => ";
      const NodePtr& body = arm.kids.back();
      body->form == Form::Block ? block(*body) : expression(body);
    }
    --depth;
    line();
    out += "}";
  }

  void block(const Node& n) {
    out += "{";
    ++depth;
    for (const NodePtr& kid : n.kids) {
      line();
      statement(kid);
    }
    --depth;
    line();
    out += "}";
  }

  void lambda(const Node& n) {
    out += "(";
    for (size_t k = 0; k < n.names.size(); ++k)
      out += (k ? ", " : "") + n.names[k] + ": " + n.type->parts[k]->text;
    out += ") => ";
    n.kids[0]->form == Form::Block ? block(*n.kids[0]) : expression(n.kids[0]);
  }

  void bracketed(const char* open, const Node& n, const char* close) {
    out += open;
    list(n.kids);
    out += close;
  }

  void grouped(const NodePtr& n) {
    out += "(";
    statement(n);
    out += ")";
  }

  void expression(const NodePtr& n) {
    switch (n->form) {
    case Form::If:
    case Form::Block:
    case Form::Match:
    case Form::Loop:
    case Form::Lambda: return grouped(n);
    default: return plain(*n);
    }
  }

  void plain(const Node& n) {
    switch (n.form) {
    case Form::Literal: return literal(n);
    case Form::Name:
    case Form::Text: out += n.name; return;
    case Form::Unary:
      out += n.name == "not" ? "(not " : "(" + n.name;
      expression(n.kids[0]);
      out += ")";
      return;
    case Form::Binary:
      out += "(";
      expression(n.kids[0]);
      out += " " + n.name + " ";
      expression(n.kids[1]);
      out += ")";
      return;
    case Form::Convert: return convert(n);
    case Form::Builtin: return builtin(n);
    case Form::Array: return bracketed("[", n, "]");
    case Form::Zeros: out += "(" + n.name + "() as " + n.type->text + ")"; return;
    case Form::Builder:
      out += "[";
      headers(n);
      out += "]";
      return;
    case Form::Reduce:
      out += n.name + "(";
      headers(n);
      out += ")";
      return;
    case Form::Index: return index(n);
    case Form::Slice: return slice(n);
    case Form::Whole: out += ":"; return;
    case Form::FromEnd: out += "-" + std::to_string(n.integer); return;
    case Form::Field:
      primary(n.kids[0]);
      out += "." + n.name;
      return;
    case Form::Part:
      primary(n.kids[0]);
      out += "." + std::to_string(n.integer);
      return;
    case Form::Call: out += n.name; return bracketed("(", n, ")");
    case Form::Invoke: return invoke(n);
    case Form::Gradient: return gradient(n);
    case Form::Make:
      out += n.name;
      if (!n.kids.empty()) bracketed("(", n, ")");
      return;
    case Form::Tuple: return bracketed("(", n, ")");
    case Form::List: return listValue(n);
    case Form::Inout:
      out += "&";
      expression(n.kids[0]);
      return;
    default: out += "?"; return;
    }
  }

  void convert(const Node& n) {
    if (n.name == "as") {
      out += "(";
      expression(n.kids[0]);
      out += " as " + n.type->text + ")";
      return;
    }
    out += n.name + "[" + n.type->text + "](";
    expression(n.kids[0]);
    out += ")";
  }

  void index(const Node& n) {
    primary(n.kids[0]);
    out += "[";
    list(n.kids, 1, n.kids.size());
    out += "]";
  }

  void gradient(const Node& n) {
    bool forward = n.kids.size() > 2;
    out += n.name + "(";
    lambda(*n.kids[0]);
    out += forward ? ", " : ")(";
    list(n.kids, 1, n.kids.size());
    out += forward ? ").1" : ")";
  }

  void invoke(const Node& n) {
    primary(n.kids[0]);
    out += "(";
    list(n.kids, 1, n.kids.size());
    out += ")";
  }

  void listValue(const Node& n) {
    if (n.kids.empty()) {
      out += "([] as " + n.type->text + ")";
      return;
    }
    bracketed("list([", n, "])");
  }

  void let(const Node& n) {
    out += n.flag ? "var " : "let ";
    out += n.name;
    if (n.asked) out += ": " + n.asked->text;
    out += " = ";
    expression(n.kids[0]);
  }

  void statement(const NodePtr& node) {
    const Node& n = *node;
    switch (n.form) {
    case Form::Let: return let(n);
    case Form::Assign:
      expression(n.kids[0]);
      out += " " + n.name + " ";
      return expression(n.kids[1]);
    case Form::Swap:
      out += "(";
      list(n.kids, 0, 2);
      out += ") = (";
      list(n.kids, 2, 4);
      out += ")";
      return;
    case Form::If: return branches(n);
    case Form::Block: return block(n);
    case Form::Match: return match(n);
    case Form::Lambda: return lambda(n);
    case Form::For:
      out += "for ";
      header(*n.kids[0]);
      out += " ";
      return block(*n.kids[1]);
    case Form::While:
      out += "while ";
      expression(n.kids[0]);
      out += " ";
      return block(*n.kids[1]);
    case Form::Loop: out += "loop "; return block(*n.kids[0]);
    case Form::Break: return leave("break", n);
    case Form::Continue: out += "continue"; return;
    case Form::Return: return leave("return", n);
    case Form::Print: return bracketed("print(", n, ")");
    case Form::Do: return expression(n.kids[0]);
    case Form::Assert: out += "assert "; return expression(n.kids[0]);
    default: return expression(node);
    }
  }

  void leave(const char* word, const Node& n) {
    out += word;
    if (n.kids.empty()) return;
    out += " ";
    expression(n.kids[0]);
  }

  void fields(const Record& r, const char* open, const char* close) {
    out += r.name + open;
    for (size_t k = 0; k < r.fields.size(); ++k)
      out += (k ? ", " : "") + r.fields[k].first + ": " + r.fields[k].second->text;
    out += close;
  }

  void choice(const Choice& e) {
    out += "enum " + e.name + " {\n";
    for (const Record& c : e.cases) {
      out += "  ";
      c.fields.empty() ? fields(c, "", "") : fields(c, "(", ")");
      out += "\n";
    }
    out += "}\n";
  }

  void function(const Function& f) {
    out += "fn " + f.name;
    if (!f.variables.empty()) {
      out += "[";
      for (size_t k = 0; k < f.variables.size(); ++k) out += (k ? ", " : "") + f.variables[k] + ": Num";
      out += "]";
    }
    out += "(";
    for (size_t k = 0; k < f.parameters.size(); ++k) {
      const Parameter& p = f.parameters[k];
      out += (k ? ", " : "") + std::string(p.isInout ? "inout " : "") + p.name + ": " + p.type->text;
    }
    out += ")";
    if (f.result->kind != Kind::Unit) out += " -> " + f.result->text;
    out += " ";
    block(*f.body);
    out += "\n";
  }
};

} // namespace

std::string write(const Program& program) {
  Writer w;
  for (const Record& r : program.structs) {
    w.out += "struct ";
    w.fields(r, " { ", " }\n");
  }
  for (const Choice& e : program.enums) w.choice(e);
  for (const auto& f : program.functions) w.function(*f);
  for (const NodePtr& s : program.script->kids) {
    w.statement(s);
    w.out += "\n";
  }
  return w.out;
}

} // namespace melix::fuzz::programs
