#include "core/ir/path.h"

#include "types/leaves.h"

#include <algorithm>

namespace melix::core {

unsigned pathOperands(const Path& path) {
  unsigned count = 0;
  for (const PathStep& s : path) count += takesIndex(s.kind);
  return count;
}

namespace {

struct PathTyper {
  types::TypeStore& types;
  std::vector<DimId> kept;
  TypeId at;

  std::string axis(const PathStep& s) {
    if (types.kind(at) != TypeKind::Array)
      return "an index step needs an array, not `" + types.print(at) + "`";
    const types::Type& array = types[at];
    if (s.kind == StepKind::Slice) kept.push_back(s.length);
    if (s.kind == StepKind::All) kept.push_back(array.dims[0]);
    at = types.array(array.parts[0], {array.dims.begin() + 1, array.dims.end()});
    return {};
  }

  std::string step(const PathStep& s) {
    if (isIndexLike(s.kind)) return axis(s);
    if (types.kind(at) == TypeKind::Array && (s.kind != StepKind::Field || !types::isFlattened(types, at))) {
      // The axes that no step mentioned are whole.
      const types::Type& array = types[at];
      kept.insert(kept.end(), array.dims.begin(), array.dims.end());
      at = array.parts[0];
    }
    if (s.kind == StepKind::Element) {
      const types::Type& t = types[at];
      if (t.kind != TypeKind::List) return "an element step needs a list, not `" + types.print(at) + "`";
      at = t.parts[0];
      return {};
    }
    if (!hasField(s.number)) return "no field " + std::to_string(s.number) + " in `" + types.print(at) + "`";
    at = types::partOf(types, at, s.number);
    return {};
  }

  bool hasField(uint32_t k) const {
    return types::hasParts(types, types.element(at)) && k < types::partsOf(types, at);
  }
};

} // namespace

std::optional<TypeId> pathType(types::TypeStore& types, TypeId root, const Path& path, std::string* problem) {
  if (types.kind(root) == TypeKind::Acc) root = types[root].parts[0];
  PathTyper typer{types, {}, root};
  for (const PathStep& s : path) {
    std::string wrong = typer.step(s);
    if (wrong.empty()) continue;
    if (problem) *problem = wrong;
    return std::nullopt;
  }
  return types.array(typer.at, typer.kept);
}

Path fieldsFirst(types::TypeStore& types, TypeId root, const Path& path) {
  Path out;
  PathTyper typer{types, {}, types.kind(root) == TypeKind::Acc ? types[root].parts[0] : root};
  bool isInRecords = false; // the steps since `fields` are indices of arrays of records
  size_t fields = 0;
  for (size_t k = 0; k < path.size(); ++k) {
    const PathStep& s = path[k];
    const bool entersArray = isIndexLike(s.kind) && (k == 0 || !isIndexLike(path[k - 1].kind));
    if (isInRecords && s.kind == StepKind::Field) {
      out.insert(out.begin() + static_cast<std::ptrdiff_t>(fields++), s);
    } else {
      if (entersArray && types::isFlattened(types, typer.at)) {
        fields = isInRecords ? fields : out.size();
        isInRecords = true;
      } else if (entersArray || !isIndexLike(s.kind)) {
        isInRecords = false;
      }
      out.push_back(s);
    }
    [[maybe_unused]] const std::string wrong = typer.step(s);
    assert(wrong.empty() && "the path fits the value");
  }
  return out;
}

namespace {

/// Brings the steps of one array of records into the order of its elements.
class IndicesFirst {
public:
  IndicesFirst(types::TypeStore& types, const Path& path) : types_(types), path_(path) {}

  Path run(TypeId at) {
    PathTyper typer{types_, {}, at};
    while (next_ < path_.size()) {
      const size_t first = next_;
      if (path_[first].kind == StepKind::Field && types_.kind(typer.at) == TypeKind::Array)
        array(typer.at);
      else
        out_.push_back(path_[next_++]);
      for (size_t k = first; k < next_; ++k) typer.step(path_[k]);
    }
    return std::move(out_);
  }

private:
  void array(TypeId at) {
    Path fields, indices;
    for (TypeId part = at;
         next_ < path_.size() && path_[next_].kind == StepKind::Field && types::isFlattened(types_, part);
         part = types::partOf(types_, part, path_[next_++].number))
      fields.push_back(path_[next_]);
    while (next_ < path_.size() && isIndexLike(path_[next_].kind)) indices.push_back(path_[next_++]);
    size_t index = 0;
    for (size_t field = 0; field < fields.size();) {
      for (size_t k = 0; k < types_.rank(at); ++k)
        out_.push_back(index < indices.size() ? indices[index++] : PathStep{StepKind::All, 0, {}, 1});
      for (at = types_.element(at); field < fields.size() && types_.kind(at) != TypeKind::Array; ++field) {
        out_.push_back(fields[field]);
        at = types::partOf(types_, at, fields[field].number);
      }
    }
    out_.insert(out_.end(), indices.begin() + static_cast<std::ptrdiff_t>(index), indices.end());
  }

  types::TypeStore& types_;
  const Path& path_;
  size_t next_ = 0;
  Path out_;
};

} // namespace

Path indicesFirst(types::TypeStore& types, TypeId root, const Path& path) {
  return IndicesFirst(types, path).run(types.kind(root) == TypeKind::Acc ? types[root].parts[0] : root);
}

} // namespace melix::core
