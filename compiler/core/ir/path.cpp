#include "core/ir/path.h"

namespace melix::core {

unsigned pathOperands(const Path& path) {
  unsigned count = 0;
  for (const PathStep& s : path)
    count += s.kind == StepKind::Index || s.kind == StepKind::Slice || s.kind == StepKind::Element;
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
    if (s.kind == StepKind::Index || s.kind == StepKind::Slice || s.kind == StepKind::All) return axis(s);
    if (types.kind(at) == TypeKind::Array) { // the axes that no step mentioned are whole
      const types::Type& array = types[at];
      kept.insert(kept.end(), array.dims.begin(), array.dims.end());
      at = array.parts[0];
    }
    const types::Type& t = types[at];
    if (s.kind == StepKind::Element) {
      if (t.kind != TypeKind::List) return "an element step needs a list, not `" + types.print(at) + "`";
      at = t.parts[0];
      return {};
    }
    if (t.kind == TypeKind::Tuple && s.number < t.parts.size()) {
      at = t.parts[s.number];
      return {};
    }
    if (t.kind == TypeKind::Struct && s.number < types.recordInfo(t.record).cases[0].fields.size()) {
      at = types.fieldType(at, 0, s.number);
      return {};
    }
    return "no field " + std::to_string(s.number) + " in `" + types.print(at) + "`";
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

} // namespace melix::core
