// Places, updates and lists as source; functions of the runtime.

#include "decompile/writer.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

/// The text of a step into a field of a value of type `t`, or of an element of it; `t` becomes the field's.
std::string FunctionWriter::fieldStep(TypeId& t, const PathStep& s) {
  while (types().kind(t) == TypeKind::Array || types().kind(t) == TypeKind::Acc) t = types()[t].parts[0];
  const types::Type& ty = types()[t];
  const bool isStruct = ty.kind == TypeKind::Struct;
  t = isStruct ? types().recordInfo(ty.record).cases[0].fields[s.number].type : ty.parts[s.number];
  return "." + (isStruct ? names_.field(ty.record, 0, s.number) : std::to_string(s.number));
}

std::string FunctionWriter::place(const Op& o, size_t at) {
  std::string out;
  bool open = false;
  TypeId t = f_.typeOf(o.operands[0]);
  if (types().kind(t) == TypeKind::Acc) t = types()[t].parts[0];
  auto close = [&] {
    if (open) out += "]";
    open = false;
  };
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Field) {
      close();
      out += fieldStep(t, s);
      continue;
    }
    bool separate = s.kind == StepKind::Element || isRagged(t);
    if (separate) close();
    if (s.kind == StepKind::Element && types().kind(t) == TypeKind::List) t = types()[t].parts[0];
    out += open ? ", " : "[";
    open = true;
    if (s.kind == StepKind::All) {
      out += ":";
    } else if (s.kind == StepKind::Slice) {
      std::string start = value(o.operands[at++], 14);
      out += start + ".." + start + " + " + sliceLength(s);
    } else {
      out += value(o.operands[at++]);
    }
    if (separate) close();
  }
  close();
  return out;
}

/// Whether a path keeps axes of an array whose rows have sizes of their own: these are Lists, which have no
/// slices.
bool FunctionWriter::slicesRows(const Op& o) {
  TypeId t = f_.typeOf(o.operands[0]);
  if (types().kind(t) == TypeKind::Acc) t = types()[t].parts[0];
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Element) return false;
    if (s.kind == StepKind::Field)
      fieldStep(t, s);
    else if (isRagged(t) && s.kind != StepKind::Index)
      return true;
  }
  return false;
}

/// Takes a path over rows apart: `step` gets what an axis that is kept goes through, `done` the place of a
/// row and where it is in what is taken or put.
void FunctionWriter::throughRows(
    const Op& o, size_t at, std::string place,
    const std::function<void(const std::string& i, const std::string& range)>& step,
    const std::function<void(const std::string& place, const std::string& part)>& done) {
  std::string part;
  TypeId t = f_.typeOf(o.operands[0]);
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Field) {
      place += fieldStep(t, s);
      continue;
    }
    if (s.kind == StepKind::Index) {
      place += "[" + value(o.operands[at++]) + "]";
    } else {
      const std::string i = names_.local("i");
      if (s.kind == StepKind::All) {
        step(i, "0..len(" + place + ")");
        part += "[" + i + "]";
      } else {
        const std::string start = named(value(o.operands[at++], 14), "start");
        step(i, start + ".." + start + " + " + sliceLength(s));
        part +=
            "[" +
            (s.step == 1 ? i + " - " + start : "(" + i + " - " + start + ") / " + std::to_string(s.step)) +
            "]";
      }
      place += "[" + i + "]";
    }
  }
  done(place, part);
}

Expr FunctionWriter::rows(const Op& o) {
  std::string open, close;
  const std::string whole = named(value(o.operands[0]));
  throughRows(
      o, 1, whole,
      [&](const std::string& i, const std::string& range) {
        open += "list(for " + i + " in " + range + ": ";
        close += ")";
      },
      [&](const std::string& place, const std::string&) { open += place; });
  return {open + close};
}

/// From the first place of a slice to behind its last; nothing for no places.
std::string FunctionWriter::sliceLength(const PathStep& s) {
  if (s.step == 1) return dim(s.length, 14);
  types::DimStore& dims = m_.types.dims;
  DimId length = dims.sub(dims.mul(dims.constant(s.step), s.length), dims.constant(s.step - 1));
  if (!dims.atLeast(length, 1)) length = dims.max(length, dims.constant(0));
  return dim(length, 14) + " step " + std::to_string(s.step);
}

/// The variable that an update changes: its operand's own if nothing later needs the old value, else a copy.
std::string FunctionWriter::variableFor(const Op& o) {
  ValueId x = o.operands[0];
  std::string text = value(x);
  auto own = variables_.find(text);
  bool last = lastUse_[x.index].valid() && &op(lastUse_[x.index]) == &o;
  if (own != variables_.end() && own->second == builders_ && last) return text;
  ValueId result = o.results.back();
  return variable(hintOf(result), type(f_.typeOf(result)), text);
}

void FunctionWriter::updateRows(const Op& o) {
  const std::string v = named(value(o.operands[1])), n = variableFor(o);
  size_t loops = 0;
  throughRows(
      o, 2, n,
      [&](const std::string& i, const std::string& range) {
        open("for " + i + " in " + range + " {"), ++loops;
      },
      [&](const std::string& place, const std::string& part) {
        const TypeId row = types().element(f_.typeOf(o.operands[1]));
        if (o.kind == OpKind::Set)
          line(place + " = " + v + part);
        else
          line(place + " = " + combined(row, {place, v + part}));
      });
  for (; loops > 0; --loops) close("}");
  call(o.results[0], n);
}

void FunctionWriter::update(const Op& o) {
  if (slicesRows(o)) return updateRows(o);
  std::string n = variableFor(o), at = place(o, 2), v = value(o.operands[1]);
  if (o.kind == OpKind::Set)
    line(n + at + " = " + v);
  else if (isPlain(f_.typeOf(o.operands[1])))
    line(n + at + " += " + v);
  else
    line(n + at + " = " + combined(f_.typeOf(o.operands[1]), {named(n + at), named(v)}));
  call(o.results[0], n);
}

/// push xs, v and pop xs.
void FunctionWriter::lists(const Op& o) {
  std::string n = variableFor(o);
  if (o.kind == OpKind::Push) {
    line("push(&" + n + ", " + value(o.operands[1]) + ")");
  } else {
    std::string popped = names_.local(hintOf(o.results[0]));
    line("let " + popped + " = pop(&" + n + ")");
    call(o.results[0], popped);
  }
  call(o.results.back(), n);
}

/// `str(x)`, or an interpolation where there is a format.
Expr FunctionWriter::format(const Op& o) {
  const auto& attr = o.as<FormatAttr>();
  OpId def = f_.values[o.operands[0]].def;
  const bool literal = def.valid() && op(def).kind == OpKind::Const;
  std::string x = value(o.operands[0], attr.spec.empty() ? 0 : 20);
  if (attr.quoted) note("the text of a value inside another");
  if (attr.spec.empty()) return {"str(" + x + ")"};
  std::string spec = attr.spec;
  size_t at = 0;
  for (size_t k = 1; k < o.operands.size(); ++k) {
    at = spec.find("{}", at) + 1;
    const std::string number = named(value(o.operands[k]));
    spec.insert(at, number);
    at += number.size();
  }
  return {"\"{" + (literal ? named(x) : x) + ":" + spec + "}\""};
}

void FunctionWriter::builtin(const Op& o) {
  ops::BuiltinKind kind = o.as<BuiltinAttr>().builtin;
  switch (kind) {
  case ops::BuiltinKind::Print: return line("print(" + args(o.operands) + ")");
  case ops::BuiltinKind::Eprint: return line("eprint(" + args(o.operands) + ")");
  case ops::BuiltinKind::StrConcat: {
    std::string text;
    for (ValueId v : o.operands) text += (text.empty() ? "" : " + ") + value(v, 14);
    return define(o.results[0], {text.empty() ? "\"\"" : text, o.operands.size() > 1 ? 13 : 20});
  }
  default: break;
  }
  // Declared anew for each choice of types.
  std::string params, results;
  for (size_t k = 0; k < o.operands.size(); ++k)
    params += (k ? ", p" : "p") + std::to_string(k) + ": " + type(f_.typeOf(o.operands[k]));
  for (ValueId v : o.results) results += (results.empty() ? "" : ", ") + type(f_.typeOf(v));
  if (o.results.size() > 1) results = "(" + results + ")";
  std::string signature = "(" + params + ")" + (results.empty() ? "" : " -> " + results);
  std::string kindName(ops::builtinName(kind));
  auto [declared, fresh] = shared_.builtins.try_emplace(kindName + signature);
  if (fresh) {
    std::string n = names_.builtin(kind);
    declared->second = {n, "@builtin(\"" + kindName + "\")\nfn " + n + signature + "\n"};
  }
  bindAll(o, declared->second.first + "(" + args(o.operands) + ")");
}

} // namespace melix::decompile
