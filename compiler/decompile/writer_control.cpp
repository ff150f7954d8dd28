// Control as source: branches, loops, builders and reductions.

#include "decompile/writer.h"

#include "core/walk.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

/// let (a, b) = if c { … (x, y) } else { … (z, w) }
void FunctionWriter::branch(const Op& o) {
  std::string head = "if " + value(o.operands[0]) + " {";
  std::string left;
  for (ValueId v : o.results) {
    exprs_[v] = {names_.local(hintOf(v)), 20};
    left += (left.empty() ? "" : ", ") + exprs_[v].text;
  }
  if (!o.results.empty()) head = "let " + (o.results.size() == 1 ? left : "(" + left + ")") + " = " + head;
  for (size_t arm = 0; arm < 2; ++arm) {
    line(arm == 0 ? head : "} else {");
    ++indent_;
    region(o.regions[arm]);
    if (!o.results.empty()) line(tuple(terminator(o.regions[arm]).operands));
    --indent_;
  }
  line("}");
}

void FunctionWriter::match(const Op& o) {
  std::string left;
  for (ValueId v : o.results) {
    exprs_[v] = {names_.local(hintOf(v)), 20};
    left += (left.empty() ? "" : ", ") + exprs_[v].text;
  }
  std::string head = "match " + value(o.operands[0]) + " {";
  if (!o.results.empty()) head = "let " + (o.results.size() == 1 ? left : "(" + left + ")") + " = " + head;
  line(head);
  ++indent_;
  RecordId record = m_.types[f_.typeOf(o.operands[0])].record;
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  for (uint32_t c = 0; c < regionOf.size(); ++c) {
    RegionId r = o.regions[regionOf[c]];
    std::string params;
    size_t fields = m_.types.recordInfo(record).cases[c].fields.size();
    for (size_t k = 0; k < fields; ++k) {
      bool bound = k < f_.regions[r].params.size();
      params += (k ? ", " : "") + (bound ? name(f_.regions[r].params[k]) : std::string("_"));
    }
    line(names_.enumCase(record, c) + (fields ? "(" + params + ")" : "") + " => {");
    ++indent_;
    region(r);
    line(o.results.empty() ? "()" : tuple(terminator(r).operands));
    --indent_;
    line("}");
  }
  --indent_;
  line("}");
}

/// c = next; all next values are found before the first variable changes.
void FunctionWriter::assignCarries(const std::vector<ValueId>& vars, const std::vector<ValueId>& next) {
  std::vector<std::string> values;
  for (size_t k = 0; k < vars.size(); ++k) values.push_back(value(next[k]));
  size_t changing = 0;
  for (size_t k = 0; k < vars.size(); ++k) changing += values[k] != value(vars[k]);
  if (changing > 1)
    for (size_t k = 0; k < vars.size(); ++k) {
      if (values[k] == value(vars[k])) continue;
      std::string n = names_.local("next");
      line("let " + n + " = " + values[k]);
      values[k] = n;
    }
  for (size_t k = 0; k < vars.size(); ++k)
    if (values[k] != value(vars[k])) line(value(vars[k]) + " = " + values[k]);
}

void FunctionWriter::forLoop(const Op& o) {
  const Region& body = f_.regions[o.regions[0]];
  size_t carries = o.operands.size() - 1;
  uint32_t collects = o.as<LoopAttr>().collects;
  std::vector<ValueId> vars(body.params.begin() + 1, body.params.end());
  for (size_t k = 0; k < carries; ++k) {
    std::string n = variable(hintOf(vars[k]), type(f_.typeOf(o.operands[k + 1])), value(o.operands[k + 1]));
    exprs_[vars[k]] = {n, 20};
  }
  std::vector<std::string> lists;
  for (uint32_t k = 0; k < collects; ++k) {
    TypeId t = f_.typeOf(terminator(o.regions[0]).operands[carries + k]);
    lists.push_back(variable("kept", "List[" + type(t) + "]", "[]"));
  }
  std::string i = names_.local(hintOf(body.params[0]) == "v" ? "i" : hintOf(body.params[0]));
  exprs_[body.params[0]] = {i, 20};
  line("for " + i + " in 0.." + value(o.operands[0], 13) + " {");
  ++indent_;
  region(o.regions[0]);
  const std::vector<ValueId>& y = terminator(o.regions[0]).operands;
  for (uint32_t k = 0; k < collects; ++k) line("push(&" + lists[k] + ", " + value(y[carries + k]) + ")");
  assignCarries(vars, std::vector<ValueId>(y.begin(), y.begin() + static_cast<long>(carries)));
  --indent_;
  line("}");
  for (size_t k = 0; k < carries; ++k) exprs_[o.results[k]] = exprs_[vars[k]];
  for (uint32_t k = 0; k < collects; ++k) {
    std::string n = names_.local(hintOf(o.results[carries + k]));
    line("let " + n + " = array(" + lists[k] + ")");
    exprs_[o.results[carries + k]] = {n, 20};
  }
}

void FunctionWriter::whileLoop(const Op& o) {
  const Region& body = f_.regions[o.regions[1]];
  for (size_t k = 0; k < o.operands.size(); ++k) {
    std::string n = variable(hintOf(body.params[k]), type(f_.typeOf(o.operands[k])), value(o.operands[k]));
    exprs_[body.params[k]] = {n, 20};
    exprs_[f_.regions[o.regions[0]].params[k]] = {n, 20};
  }
  line("loop {");
  ++indent_;
  region(o.regions[0]);
  line("if not " + value(terminator(o.regions[0]).operands[0], 7) + " { break }");
  region(o.regions[1]);
  assignCarries(body.params, terminator(o.regions[1]).operands);
  --indent_;
  line("}");
  for (size_t k = 0; k < o.results.size(); ++k) exprs_[o.results[k]] = exprs_[body.params[k]];
}

/// The body of a builder as an expression; a block where it has statements.
std::string FunctionWriter::body(RegionId r, ValueId yielded) {
  std::string saved = std::move(out_);
  out_.clear();
  ++indent_, ++builders_;
  region(r);
  std::string last = value(yielded), inner = std::move(out_);
  --indent_, --builders_;
  out_ = std::move(saved);
  if (inner.empty()) return last;
  std::string pad(static_cast<size_t>(2 * indent_), ' ');
  return "{\n" + inner + pad + "  " + last + "\n" + pad + "}";
}

void FunctionWriter::nestResult(const Op& o, const NestResult& r, ValueId yielded, ValueId filter, ValueId result) {
  const std::vector<ValueId>& params = f_.regions[o.regions[0]].params;
  auto header = [&](const std::vector<uint32_t>& axes) {
    std::string out;
    for (uint32_t a : axes) out += (out.empty() ? "" : ", ") + name(params[a]) + " in 0.." + dim(o.dims[a]);
    return out;
  };
  for (size_t a = 0; a < o.dims.size(); ++a)
    if (!exprs_.count(params[a])) exprs_[params[a]] = {names_.local(hintOf(params[a]) == "v" ? "i" : hintOf(params[a])), 20};
  std::vector<uint32_t> reduced;
  for (uint32_t a = 0; a < o.dims.size(); ++a)
    if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end()) reduced.push_back(a);
  std::string text;
  if (r.kind == NestResultKind::Filter) {
    text = "[for " + header(reduced) + " if " + body(o.regions[0], filter) + ": " + body(o.regions[0], yielded) + "]";
  } else {
    ++indent_;
    text = body(o.regions[0], yielded);
    --indent_;
    if (r.kind == NestResultKind::Reduce) {
      constexpr const char* names[] = {"sum", "prod", "min", "max", "all", "any", "argmin", "argmax", "reduce"};
      if (r.monoid == MonoidKind::Combine) note("a reduction with an operation of its own");
      text = std::string(names[static_cast<size_t>(r.monoid)]) + "(for " + header(reduced) + ": " + text + ")";
    }
    if (!r.keep.empty()) text = "[for " + header(r.keep) + ": " + text + "]";
  }
  std::string n = names_.local(hintOf(result));
  line("let " + n + ": " + type(f_.typeOf(result)) + " = " + text);
  exprs_[result] = {n, 20};
}

void FunctionWriter::nest(const Op& o) {
  const NestAttr& attr = o.as<NestAttr>();
  if (attr.accs > 0) return nestLoops(o);
  const std::vector<ValueId>& y = terminator(o.regions[0]).operands;
  size_t yielded = 0, result = 0;
  for (const NestResult& r : attr.results) {
    bool filter = r.kind == NestResultKind::Filter;
    if (uses_[o.results[result].index] > 0) nestResult(o, r, y[yielded + filter], y[yielded], o.results[result]);
    yielded += filter ? 2 : r.monoid == MonoidKind::Combine && r.kind == NestResultKind::Reduce ? r.yields : 1;
    ++result;
  }
}

/// Accumulators: loops over the axes that add to variables. Other results are found by builders beside them.
void FunctionWriter::nestLoops(const Op& o) {
  const NestAttr& attr = o.as<NestAttr>();
  const Region& body = f_.regions[o.regions[0]];
  size_t results = o.results.size() - attr.accs, axes = o.dims.size();
  const std::vector<ValueId>& y = terminator(o.regions[0]).operands;
  for (size_t k = 0; k < results; ++k)
    if (uses_[o.results[k].index] > 0) nestResult(o, attr.results[k], y[k], {}, o.results[k]);
  std::vector<ValueId> vars;
  for (uint32_t k = 0; k < attr.accs; ++k) {
    ValueId p = body.params[axes + k];
    std::string hint = f_.values[p].hint.valid() ? hintOf(p) : "total";
    std::string n = variable(hint, type(f_.typeOf(o.results[results + k])), value(o.operands[k]));
    exprs_[p] = {n, 20};
    vars.push_back(p);
  }
  for (size_t a = 0; a < axes; ++a) {
    if (!exprs_.count(body.params[a])) exprs_[body.params[a]] = {names_.local(hintOf(body.params[a]) == "v" ? "i" : hintOf(body.params[a])), 20};
    line("for " + value(body.params[a]) + " in 0.." + dim(o.dims[a]) + " {");
    ++indent_;
  }
  region(o.regions[0]);
  assignCarries(vars, std::vector<ValueId>(y.end() - attr.accs, y.end()));
  for (size_t a = 0; a < axes; ++a) {
    --indent_;
    line("}");
  }
  for (uint32_t k = 0; k < attr.accs; ++k) exprs_[o.results[results + k]] = exprs_[vars[k]];
}

} // namespace melix::decompile
