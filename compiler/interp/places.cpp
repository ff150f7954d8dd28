#include "interp/places.h"

#include "interp/steps.h"

namespace melix::interp {

/// Every index stands behind a check or a proof: one that is out of range all the same is no panic of the
/// program.
static constexpr const char* unguardedIndex =
    "a bug of the compiler: an index that no check guards is out of range";

namespace {

using core::StepKind;

/// Where a visit ended: a scalar or object in the element form of `kind`.
struct Place {
  char* at;
  TypeKind kind;
};

enum class Access : uint8_t { Read, Write };

/// Visits the places a path names, in row-major order of the axes it keeps. Writing makes every object on the
/// way unshared first.
template <class Visit>
class PlaceWalk {
public:
  PlaceWalk(Frame& f, const PlaceExtra& x, Access access, Visit visit)
      : f_(f), x_(x), access_(access), visit_(visit) {}

  /// `slot` is the object at hand, held in a field, an element or a register; false after a problem.
  bool walk(Slot& slot, size_t step) {
    if (step == x_.steps.size()) return visit_(Place{reinterpret_cast<char*>(&slot), objectKind}), true;
    if (!slot.o) return fail("an undefined value is read");
    if (access_ == Access::Write) makeUnique(slot.o);
    switch (slot.o->kind) {
    case ObjectKind::Array: return axis(*static_cast<Array*>(slot.o), 0, 0, step);
    case ObjectKind::List: {
      auto* l = static_cast<List*>(slot.o);
      int64_t i = f_.r[x_.steps[step].index].i;
      if (i < 0 || i >= static_cast<int64_t>(l->items.size())) return fail(unguardedIndex);
      return part(l->items[static_cast<size_t>(i)], l->element, step + 1);
    }
    case ObjectKind::Record: {
      if (x_.steps[step].kind != StepKind::Field) return fail("an index into a record");
      auto* r = static_cast<Record*>(slot.o);
      return part(r->parts[x_.steps[step].number], r->kinds[x_.steps[step].number], step + 1);
    }
    default: return fail("a place in a value that has none");
    }
  }
  std::string problem;

private:
  bool fail(const char* what) {
    problem = what;
    return false;
  }

  bool part(Slot& s, TypeKind kind, size_t step) {
    if (isObject(kind)) return walk(s, step);
    visit_(Place{reinterpret_cast<char*>(&s), kind});
    return true;
  }

  bool axis(Array& a, size_t dim, int64_t offset, size_t step) {
    bool stepHere = step < x_.steps.size() && x_.steps[step].kind != StepKind::Field &&
                    x_.steps[step].kind != StepKind::Element;
    if (dim == a.dims.size()) return element(a, offset, step);
    if (!stepHere) return whole(a, dim, offset, step);
    const PlaceStep& s = x_.steps[step];
    if (s.kind == StepKind::All) {
      for (int64_t i = 0; i < a.dims[dim]; ++i)
        if (!axis(a, dim + 1, offset * a.dims[dim] + i, step + 1)) return false;
      return true;
    }
    int64_t start = f_.r[s.index].i, count = s.kind == StepKind::Index ? 1 : f_.r[s.length].i;
    for (int64_t k = 0; k < count; ++k) {
      int64_t i = start + k * s.step;
      if (i < 0 || i >= a.dims[dim]) return fail(unguardedIndex);
      if (!axis(a, dim + 1, offset * a.dims[dim] + i, step + 1)) return false;
    }
    return true;
  }

  /// The axes that are left, whole.
  bool whole(Array& a, size_t dim, int64_t offset, size_t step) {
    int64_t count = 1;
    for (size_t k = dim; k < a.dims.size(); ++k) count *= a.dims[k];
    for (int64_t k = 0; k < count; ++k)
      if (!element(a, offset * count + k, step)) return false;
    return true;
  }

  bool element(Array& a, int64_t index, size_t step) {
    char* at = a.data + index * a.elementBytes;
    if (!isObject(a.element) || step == x_.steps.size()) return visit_(Place{at, a.element}), true;
    return walk(*reinterpret_cast<Slot*>(at), step);
  }

  Frame& f_;
  const PlaceExtra& x_;
  Access access_;
  Visit visit_;
};

template <class Visit>
std::string visitPlaces(Frame& f, const PlaceExtra& x, Access access, Slot& root, Visit visit) {
  PlaceWalk<Visit> walk(f, x, access, visit);
  walk.walk(root, 0);
  return walk.problem;
}

/// The elements of the value at a place: of an array stored there, else the one it is.
template <class Each>
void eachElement(Place p, bool isArray, Each each) {
  if (!isArray || !isObject(p.kind)) return each(p);
  auto* a = static_cast<Array*>(loadSlot(objectKind, p.at).o);
  if (!a || a->kind != ObjectKind::Array) return each(p);
  for (int64_t k = 0; k < a->count; ++k) each(Place{a->data + k * a->elementBytes, a->element});
}

/// Changes places beside the elements of an array, in order: `change` gets a place and what comes there,
/// borrowed. An array that a record holds as one object is changed element by element too.
template <class Change>
std::string changeElements(Frame& f, const PlaceExtra& x, Slot& root, const Array* from, Change change) {
  bool scalars = !isObject(x.element);
  int64_t next = 0;
  return visitPlaces(f, x, Access::Write, root, [&](Place p) {
    if (isObject(p.kind) && scalars) makeUnique(reinterpret_cast<Slot*>(p.at)->o);
    eachElement(p, scalars, [&](Place e) {
      if (from && next < from->count) change(e, from->at(next++));
    });
  });
}

} // namespace

const Instr* runGet(Frame& f, const Instr* in) {
  const auto& x = *static_cast<const PlaceExtra*>(in->extra);
  Slot root = peek(f, in->b);
  if (!x.wholeArray) {
    Slot found{0};
    std::string problem =
        visitPlaces(f, x, Access::Read, root, [&](Place p) { found = loadSlot(p.kind, p.at); });
    if (!problem.empty()) return f.machine->fail(f, in, problem);
    if (isObject(x.element)) {
      retain(found.o);
      putObject(f, in->a, found.o);
    } else {
      f.r[in->a] = found;
    }
    return in + 1;
  }
  Extents dims(x.dims.size());
  for (size_t k = 0; k < dims.size(); ++k) dims[k] = f.r[x.dims[k]].i;
  auto* out = new Array(x.element, dims);
  int64_t next = 0;
  std::string problem = visitPlaces(f, x, Access::Read, root, [&](Place p) {
    eachElement(p, true, [&](Place e) {
      if (next >= out->count) return;
      Slot s = loadSlot(e.kind, e.at);
      if (isObject(e.kind)) retain(s.o);
      storeSlot(x.element, out->data + next++ * out->elementBytes, s);
    });
  });
  putObject(f, in->a, out);
  return problem.empty() ? in + 1 : f.machine->fail(f, in, problem);
}

namespace {

/// Takes the value over that holds the places, and changes each of them by the value or by an element of it.
template <class Change>
std::string changePlaces(Frame& f, const Instr* in, const Change& change) {
  const auto& x = *static_cast<const PlaceExtra*>(in->extra);
  Object* target = take(f, in->b).o;
  putObject(f, in->a, target);
  Slot value = peek(f, in->c), &root = f.r[in->a];
  if (x.wholeArray) return changeElements(f, x, root, static_cast<const Array*>(value.o), change);
  return visitPlaces(f, x, Access::Write, root, [&](Place p) { change(p, value); });
}

} // namespace

const Instr* runSet(Frame& f, const Instr* in) {
  auto replace = [](Place p, Slot v) {
    if (isObject(p.kind)) {
      retain(v.o);
      release(loadSlot(objectKind, p.at).o);
    }
    storeSlot(p.kind, p.at, v);
  };
  std::string problem = changePlaces(f, in, replace);
  if (in->c & moveBit) putObject(f, in->c & ~moveBit, nullptr);
  return problem.empty() ? in + 1 : f.machine->fail(f, in, problem);
}

const Instr* runAddAt(Frame& f, const Instr* in) {
  std::string sums;
  auto add = [&](Place p, Slot v) {
    Slot old = loadSlot(p.kind, p.at);
    if (isObject(p.kind)) storeSlot(objectKind, p.at, Slot{0});
    storeSlot(p.kind, p.at, tangentOp(TangentOp::Add, p.kind, old, v, sums));
  };
  std::string problem = changePlaces(f, in, add);
  if (problem.empty()) problem = sums;
  return problem.empty() ? in + 1 : f.machine->fail(f, in, problem);
}

const Instr* runField(Frame& f, const Instr* in) {
  uint32_t source = in->b & ~moveBit;
  auto* r = static_cast<Record*>(f.r[source].o);
  if (!r) return f.machine->fail(f, in, "an undefined value is read");
  Slot s = r->parts[in->c];
  if (in->d) {
    bool steal = (in->b & moveBit) && r->refs == 1;
    if (steal)
      r->parts[in->c].o = nullptr;
    else
      retain(s.o);
    if (in->b & moveBit) putObject(f, source, nullptr);
    putObject(f, in->a, s.o);
    return in + 1;
  }
  if (in->b & moveBit) putObject(f, source, nullptr);
  f.r[in->a] = s;
  return in + 1;
}

// --- single elements
// ----------------------------------------------------------------------------------------------

namespace {

template <size_t Rank>
inline int64_t elementIndex(Frame& f, const Array& a, const std::vector<uint32_t>& regs) {
  int64_t index = 0;
  for (size_t k = 0; k < Rank; ++k) {
    int64_t i = f.r[regs[k]].i;
    if (static_cast<uint64_t>(i) >= static_cast<uint64_t>(a.dims[k])) return -1;
    index = index * a.dims[k] + i;
  }
  return index;
}

const std::vector<uint32_t>& indexRegs(const Instr* in) {
  return static_cast<const RegsExtra*>(in->extra)->regs;
}

template <size_t Rank, class T>
const Instr* getElement(Frame& f, const Instr* in) {
  auto* a = static_cast<const Array*>(f.r[in->b].o);
  int64_t i = a ? elementIndex<Rank>(f, *a, indexRegs(in)) : -1;
  if (i < 0) return f.machine->fail(f, in, unguardedIndex);
  T v;
  std::memcpy(&v, a->data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  if constexpr (std::is_signed_v<T>)
    f.r[in->a].i = v;
  else
    f.r[in->a].u = v;
  return in + 1;
}

template <size_t Rank>
const Instr* setElement(Frame& f, const Instr* in) {
  auto* a = updated<Array>(f, in);
  int64_t i = elementIndex<Rank>(f, *a, indexRegs(in));
  if (i < 0) return f.machine->fail(f, in, unguardedIndex);
  storeSlot(a->element, a->data + i * a->elementBytes, f.r[in->c]);
  return in + 1;
}

template <size_t Rank, class T>
const Instr* addElement(Frame& f, const Instr* in) {
  auto* a = updated<Array>(f, in);
  int64_t i = elementIndex<Rank>(f, *a, indexRegs(in));
  if (i < 0) return f.machine->fail(f, in, unguardedIndex);
  auto* place = reinterpret_cast<T*>(a->data) + i;
  if constexpr (std::is_same_v<T, float>)
    *place += f.r[in->c].f;
  else
    *place += f.r[in->c].d;
  return in + 1;
}

template <size_t Rank>
const Instr* addAnyElement(Frame& f, const Instr* in) {
  auto* a = updated<Array>(f, in);
  int64_t i = elementIndex<Rank>(f, *a, indexRegs(in));
  if (i < 0) return f.machine->fail(f, in, unguardedIndex);
  std::string problem;
  char* place = a->data + i * a->elementBytes;
  storeSlot(a->element, place,
            tangentOp(TangentOp::Add, a->element, loadSlot(a->element, place), f.r[in->c], problem));
  return in + 1;
}

template <size_t Rank>
Handler getOf(unsigned bytes, bool isSigned) {
  switch (bytes) {
  case 1: return isSigned ? getElement<Rank, int8_t> : getElement<Rank, uint8_t>;
  case 2: return isSigned ? getElement<Rank, int16_t> : getElement<Rank, uint16_t>;
  case 4: return isSigned ? getElement<Rank, int32_t> : getElement<Rank, uint32_t>;
  default: return getElement<Rank, uint64_t>;
  }
}

template <size_t Rank>
Handler addOf(TypeKind kind) {
  if (kind == TypeKind::F32) return addElement<Rank, float>;
  return kind == TypeKind::F64 ? addElement<Rank, double> : addAnyElement<Rank>;
}

} // namespace

Handler fastGet(size_t rank, unsigned bytes, bool isSigned) {
  return rank == 1   ? getOf<1>(bytes, isSigned)
         : rank == 2 ? getOf<2>(bytes, isSigned)
                     : getOf<3>(bytes, isSigned);
}
Handler fastSet(size_t rank) { return rank == 1 ? setElement<1> : rank == 2 ? setElement<2> : setElement<3>; }
Handler fastAddAt(size_t rank, TypeKind kind) {
  return rank == 1 ? addOf<1>(kind) : rank == 2 ? addOf<2>(kind) : addOf<3>(kind);
}

} // namespace melix::interp
