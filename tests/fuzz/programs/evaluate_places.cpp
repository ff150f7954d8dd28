// Reading and changing parts of values, with the checks in the order that the language gives.
#include "fuzz/programs/evaluator.h"

#include <algorithm>

namespace melix::fuzz::programs {

std::vector<Subscript> Evaluator::subscripts(const Node& n) {
  std::vector<Subscript> out;
  for (size_t k = 1; k < n.kids.size(); ++k) {
    const Node& kid = *n.kids[k];
    Subscript s{kid.form};
    switch (kid.form) {
    case Form::Whole: break;
    case Form::FromEnd: s.a = kid.integer; break;
    case Form::Slice:
      s.a = value(kid.kids[0]).i;
      s.open = kid.kids.size() < 2;
      if (!s.open) s.b = value(kid.kids[1]).i;
      if (kid.kids.size() > 2) s.step = value(kid.kids[2]).i;
      break;
    default: {
      Value v = value(n.kids[k]);
      s.form = v.kind == Kind::Array ? Form::Array : Form::Index;
      if (v.kind != Kind::Array) {
        s.a = v.i;
      } else {
        for (const Value& at : v.o->items) s.positions.push_back(at.i);
      }
    }
    }
    out.push_back(std::move(s));
  }
  return out;
}

namespace {

void requireWithin(int64_t at, int64_t size, bool list) {
  if (at >= 0 && at < size) return;
  throw Panic{"index " + std::to_string(at) + " is out of range for " +
              (list ? "a list of length " : "an axis of size ") + std::to_string(size)};
}

} // namespace

Selection Evaluator::resolve(const Value& of, const std::vector<Subscript>& subscripts) {
  Selection selected;
  for (size_t k = 0; k < subscripts.size(); ++k) {
    const Subscript& s = subscripts[k];
    bool list = of.kind == Kind::List;
    int64_t size = list ? static_cast<int64_t>(of.o->items.size()) : of.o->dims.at(k);
    std::vector<int64_t> at;
    switch (s.form) {
    case Form::FromEnd: at = {size - s.a}; break;
    case Form::Index: at = {s.a}; break;
    case Form::Array: at = s.positions; break;
    case Form::Whole:
      for (int64_t i = 0; i < size; ++i) at.push_back(i);
      break;
    default: {
      int64_t end = s.open ? size : s.b;
      if (s.a < 0 || s.a > end || end > size)
        throw Panic{"slice " + std::to_string(s.a) + ".." + std::to_string(end) +
                    " does not fit an axis of size " + std::to_string(size)};
      for (int64_t i = s.a; i < end; i += s.step) at.push_back(i);
    }
    }
    if (s.form == Form::Index || s.form == Form::FromEnd || s.form == Form::Array)
      for (int64_t i : at) requireWithin(i, size, list);
    selected.positions.push_back(std::move(at));
    selected.kept.push_back(s.form != Form::Index && s.form != Form::FromEnd);
  }
  return selected;
}

namespace {

/// Calls `visit` with the place of each element that the step selects, in row-major order.
void visitSelected(const Object& o, const Selection& selected, const std::function<void(size_t)>& visit) {
  std::function<void(size_t, int64_t)> axis = [&](size_t k, int64_t offset) {
    if (k == o.dims.size()) return visit(static_cast<size_t>(offset));
    int64_t size = o.dims[k];
    if (k >= selected.positions.size()) {
      for (int64_t i = 0; i < size; ++i) axis(k + 1, offset * size + i);
      return;
    }
    for (int64_t i : selected.positions[k]) axis(k + 1, offset * size + i);
  };
  axis(0, 0);
}

std::vector<int64_t> selectedDims(const Object& o, const Selection& selected) {
  std::vector<int64_t> dims;
  for (size_t k = 0; k < o.dims.size(); ++k) {
    if (k >= selected.positions.size())
      dims.push_back(o.dims[k]);
    else if (selected.kept[k])
      dims.push_back(static_cast<int64_t>(selected.positions[k].size()));
  }
  return dims;
}

} // namespace

Value Evaluator::read(const Value& from, const std::vector<PlaceStep>& steps, size_t at) {
  if (at == steps.size()) return from;
  if (steps[at].field >= 0) return read(from.o->items[static_cast<size_t>(steps[at].field)], steps, at + 1);
  Selection selected = resolve(from, steps[at].subscripts);
  if (from.kind == Kind::List)
    return read(from.o->items[static_cast<size_t>(selected.positions[0][0])], steps, at + 1);
  std::vector<int64_t> dims = selectedDims(*from.o, selected);
  std::vector<Value> items;
  visitSelected(*from.o, selected, [&](size_t k) { items.push_back(from.o->items[k]); });
  if (dims.empty()) return read(items[0], steps, at + 1);
  return read(arrayValue(std::move(dims), std::move(items)), steps, at + 1);
}

void Evaluator::update(Value& in, const std::vector<PlaceStep>& steps, size_t at,
                       const std::function<Value(const Value&)>& change) {
  if (at == steps.size()) {
    in = change(in);
    return;
  }
  if (steps[at].field >= 0)
    return update(programs::own(in).items[static_cast<size_t>(steps[at].field)], steps, at + 1, change);
  Selection selected = resolve(in, steps[at].subscripts);
  Object& o = programs::own(in);
  if (in.kind == Kind::List)
    return update(o.items[static_cast<size_t>(selected.positions[0][0])], steps, at + 1, change);
  std::vector<int64_t> dims = selectedDims(o, selected);
  std::vector<size_t> places;
  visitSelected(o, selected, [&](size_t k) { places.push_back(k); });
  if (dims.empty()) return update(o.items[places[0]], steps, at + 1, change);
  if (at + 1 < steps.size()) throw Unknown{"a part of a slice"};
  std::vector<Value> old;
  for (size_t k : places) old.push_back(o.items[k]);
  Value fresh = change(arrayValue(dims, std::move(old)));
  for (size_t k = 0; k < places.size(); ++k)
    o.items[places[k]] = fresh.kind == Kind::Array ? fresh.o->items[k] : fresh;
}

std::vector<PlaceStep> Evaluator::steps(const NodePtr& place, std::string_view& name) {
  if (place->form == Form::Name) {
    name = place->name;
    return {};
  }
  std::vector<PlaceStep> out = steps(place->kids[0], name);
  if (place->form == Form::Index) {
    out.push_back({-1, subscripts(*place)});
    return out;
  }
  const Record* r = program_.findStruct(place->kids[0]->type->name);
  for (size_t k = 0; r && k < r->fields.size(); ++k)
    if (r->fields[k].first == place->name) out.push_back({static_cast<int>(k), {}});
  return out;
}

namespace {

/// Whether what stands between the brackets is one number for each axis.
bool isElement(const Node& n, const Value& of) {
  if (of.kind != Kind::Array || n.kids.size() != of.o->dims.size() + 1) return false;
  return std::all_of(n.kids.begin() + 1, n.kids.end(),
                     [](const NodePtr& kid) { return kid->type && kid->type->kind == Kind::I64; });
}

} // namespace

Value Evaluator::index(const Node& n) {
  Value of = value(n.kids[0]);
  if (!isElement(n, of)) return read(of, {PlaceStep{-1, subscripts(n)}}, 0);
  std::vector<int64_t> at;
  for (size_t k = 1; k < n.kids.size(); ++k) at.push_back(value(n.kids[k]).i);
  int64_t offset = 0;
  for (size_t k = 0; k < at.size(); ++k) {
    requireWithin(at[k], of.o->dims[k], false);
    offset = offset * of.o->dims[k] + at[k];
  }
  return of.o->items[static_cast<size_t>(offset)];
}

} // namespace melix::fuzz::programs
