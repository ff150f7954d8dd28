// Places, updates and lists as source; functions of the runtime.

#include "decompile/writer_places.h"

#include "decompile/writer.h"
#include "decompile/writer_sums.h"
#include "decompile/writer_types.h"
#include "support/function_ref.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

/// The text of a step into a field of a value of type `t`, or of an element of it; `t` becomes the field's.
std::string fieldStep(FunctionWriter& w, TypeId& t, const PathStep& s) {
  while (w.types().kind(t) == TypeKind::Array || w.types().kind(t) == TypeKind::Acc)
    t = w.types()[t].parts[0];
  const types::Type& ty = w.types()[t];
  const bool isStruct = ty.kind == TypeKind::Struct;
  t = isStruct ? w.types().recordInfo(ty.record).cases[0].fields[s.number].type : ty.parts[s.number];
  return "." + (isStruct ? w.names.field(ty.record, 0, s.number) : std::to_string(s.number));
}

/// From the first place of a slice to behind its last; nothing for no places.
std::string sliceLength(FunctionWriter& w, const PathStep& s) {
  if (s.step == 1) return dimText(w, s.length, 14);
  types::DimStore& dims = w.m.types.dims;
  DimId length = dims.sub(dims.mul(dims.constant(s.step), s.length), dims.constant(s.step - 1));
  if (!dims.atLeast(length, 1)) length = dims.max(length, dims.constant(0));
  return dimText(w, length, 14) + " step " + std::to_string(s.step);
}

/// Splits a path over rows into its axes: `step` gets the index and range of each kept axis, `done` the place
/// of a row, and its place in the value that is read or written.
void throughRows(FunctionWriter& w, const Op& o, size_t at, std::string place,
                 FunctionRef<void(const std::string& i, const std::string& range)> step,
                 FunctionRef<void(const std::string& place, const std::string& part)> done) {
  std::string part;
  TypeId t = w.f.typeOf(o.operands[0]);
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Field) {
      place += fieldStep(w, t, s);
      continue;
    }
    if (s.kind == StepKind::Index) {
      place += "[" + w.value(o.operands[at++]) + "]";
    } else {
      const std::string i = w.names.local("i");
      if (s.kind == StepKind::All) {
        step(i, "0..len(" + place + ")");
        part += "[" + i + "]";
      } else {
        const std::string start = named(w, w.value(o.operands[at++], 14), "start");
        step(i, start + ".." + start + " + " + sliceLength(w, s));
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

/// The variable that an update changes: its operand's own if nothing later needs the old value, else a copy.
std::string variableFor(FunctionWriter& w, const Op& o) {
  ValueId x = o.operands[0];
  std::string text = w.value(x);
  if (w.variables.isOwn(text) && w.isLastUse(x, o)) return text;
  ValueId result = o.results.back();
  return variable(w, w.hintOf(result), typeText(w, w.f.typeOf(result)), text);
}

void updateRows(FunctionWriter& w, const Op& o) {
  const std::string v = named(w, w.value(o.operands[1])), n = variableFor(w, o);
  size_t loops = 0;
  throughRows(
      w, o, 2, n,
      [&](const std::string& i, const std::string& range) {
        w.lines.open("for " + i + " in " + range + " {"), ++loops;
      },
      [&](const std::string& place, const std::string& part) {
        const TypeId row = w.types().element(w.f.typeOf(o.operands[1]));
        if (o.kind == OpKind::Set)
          w.lines.add(place + " = " + v + part);
        else
          w.lines.add(place + " = " + combined(w, row, {place, v + part}));
      });
  for (; loops > 0; --loops) w.lines.close("}");
  w.call(o.results[0], n);
}

} // namespace

std::string place(FunctionWriter& w, const Op& o, size_t at) {
  std::string out;
  bool open = false;
  TypeId t = w.f.typeOf(o.operands[0]);
  if (w.types().kind(t) == TypeKind::Acc) t = w.types()[t].parts[0];
  auto close = [&] {
    if (open) out += "]";
    open = false;
  };
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Field) {
      close();
      out += fieldStep(w, t, s);
      continue;
    }
    bool separate = s.kind == StepKind::Element || isRagged(w, t);
    if (separate) close();
    if (s.kind == StepKind::Element && w.types().kind(t) == TypeKind::List) t = w.types()[t].parts[0];
    out += open ? ", " : "[";
    open = true;
    if (s.kind == StepKind::All) {
      out += ":";
    } else if (s.kind == StepKind::Slice) {
      std::string start = w.value(o.operands[at++], 14);
      out += start + ".." + start + " + " + sliceLength(w, s);
    } else {
      out += w.value(o.operands[at++]);
    }
    if (separate) close();
  }
  close();
  return out;
}

/// Whether a path keeps axes of an array whose rows have sizes of their own: these are Lists, which have no
/// slices.
bool slicesRows(FunctionWriter& w, const Op& o) {
  TypeId t = w.f.typeOf(o.operands[0]);
  if (w.types().kind(t) == TypeKind::Acc) t = w.types()[t].parts[0];
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Element) return false;
    if (s.kind == StepKind::Field)
      fieldStep(w, t, s);
    else if (isRagged(w, t) && s.kind != StepKind::Index)
      return true;
  }
  return false;
}

Expr rows(FunctionWriter& w, const Op& o) {
  std::string open, close;
  const std::string whole = named(w, w.value(o.operands[0]));
  throughRows(
      w, o, 1, whole,
      [&](const std::string& i, const std::string& range) {
        open += "list(for " + i + " in " + range + ": ";
        close += ")";
      },
      [&](const std::string& place, const std::string&) { open += place; });
  return {open + close};
}

void writeUpdate(FunctionWriter& w, const Op& o) {
  if (slicesRows(w, o)) return updateRows(w, o);
  std::string n = variableFor(w, o), at = place(w, o, 2), v = w.value(o.operands[1]);
  if (o.kind == OpKind::Set)
    w.lines.add(n + at + " = " + v);
  else if (isPlain(w, w.f.typeOf(o.operands[1])))
    w.lines.add(n + at + " += " + v);
  else
    w.lines.add(n + at + " = " + combined(w, w.f.typeOf(o.operands[1]), {named(w, n + at), named(w, v)}));
  w.call(o.results[0], n);
}

/// push xs, v and pop xs.
void writeListUpdate(FunctionWriter& w, const Op& o) {
  std::string n = variableFor(w, o);
  if (o.kind == OpKind::Push) {
    w.lines.add("push(&" + n + ", " + w.value(o.operands[1]) + ")");
  } else {
    std::string popped = w.names.local(w.hintOf(o.results[0]));
    w.lines.add("let " + popped + " = pop(&" + n + ")");
    w.call(o.results[0], popped);
  }
  w.call(o.results.back(), n);
}

/// `str(x)`, or an interpolation where there is a format.
Expr formatted(FunctionWriter& w, const Op& o) {
  const auto& attr = o.as<FormatAttr>();
  OpId def = w.f.values[o.operands[0]].def;
  const bool literal = def.valid() && w.op(def).kind == OpKind::Const;
  std::string x = w.value(o.operands[0], attr.spec.empty() ? 0 : 20);
  if (attr.quoted) w.note("the text of a value inside another");
  if (attr.spec.empty()) return {"str(" + x + ")"};
  std::string spec = attr.spec;
  size_t at = 0;
  for (size_t k = 1; k < o.operands.size(); ++k) {
    at = spec.find("{}", at) + 1;
    const std::string number = named(w, w.value(o.operands[k]));
    spec.insert(at, number);
    at += number.size();
  }
  return {"\"{" + (literal ? named(w, x) : x) + ":" + spec + "}\""};
}

void writeBuiltin(FunctionWriter& w, const Op& o) {
  ops::BuiltinKind kind = o.as<BuiltinAttr>().builtin;
  switch (kind) {
  case ops::BuiltinKind::Print: return w.lines.add("print(" + w.args(o.operands) + ")");
  case ops::BuiltinKind::Eprint: return w.lines.add("eprint(" + w.args(o.operands) + ")");
  case ops::BuiltinKind::StrConcat: {
    std::string text;
    for (ValueId v : o.operands) text += (text.empty() ? "" : " + ") + w.value(v, 14);
    return define(w, o.results[0], {text.empty() ? "\"\"" : text, o.operands.size() > 1 ? 13 : 20});
  }
  default: break;
  }
  // Declared anew for each choice of types.
  std::string params, results;
  for (size_t k = 0; k < o.operands.size(); ++k)
    params += (k ? ", p" : "p") + std::to_string(k) + ": " + typeText(w, w.f.typeOf(o.operands[k]));
  for (ValueId v : o.results) results += (results.empty() ? "" : ", ") + typeText(w, w.f.typeOf(v));
  if (o.results.size() > 1) results = "(" + results + ")";
  std::string signature = "(" + params + ")" + (results.empty() ? "" : " -> " + results);
  std::string kindName(ops::builtinName(kind));
  auto [declared, fresh] = w.shared.builtins.try_emplace(kindName + signature);
  if (fresh) {
    std::string n = w.names.builtin(kind);
    declared->second = {n, "@builtin(\"" + kindName + "\")\nfn " + n + signature + "\n"};
  }
  bindResults(w, o, declared->second.first + "(" + w.args(o.operands) + ")");
}

} // namespace melix::decompile
