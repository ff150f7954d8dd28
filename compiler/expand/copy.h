#pragma once
// Copies of trees: of a quote with its splices replaced by their values, and of syntax that stands in several
// places.

#include "expand/value.h"

#include <functional>
#include <map>

namespace melix::expand {

/// The values of a splice. `isMany`: the splice stands for a list of them.
struct Spliced {
  Values values;
  bool isMany = false;
};

/// Why a quote could not be used.
struct CopyProblem {
  Span place;
  std::string message;
};

/// Copies the content of a quote of `from` into `to`.
class Copier {
public:
  Copier(const Ast& from, Ast& to, Interner& names) : from_(from), to_(to), names_(names) {}

  std::map<NodeId, Spliced> spliced;                               ///< by the nodes of the quote's splices
  std::function<NameId(NameId)> mark = [](NameId n) { return n; }; ///< a name that the quote wrote
  std::function<FileId(FileId)> fileOf = [](FileId f) { return f; };
  bool splices = true; ///< splices of the outermost level are replaced; otherwise nothing is

  NodeId copy(NodeId id, Role role);
  const std::optional<CopyProblem>& problem() const { return problem_; }

  // --- visitor of payloads
  void node(NodeId& id, Role role);
  void nodes(NodeList& ids, Role role);
  void name(NameId& id, NameRole role);
  void span(Span& place) {
    if (place.valid()) place.file = fileOf(place.file);
  }
  void text(std::string&) {}
  void fact(uint64_t) {}
  void flag(bool) {}
  void attributes(std::vector<Attribute>& all) { elements(all); }
  template <class T>
  void elements(std::vector<T>& all);

private:
  const Spliced* splicedAt(NodeId id) const;
  /// As the parser reads it: a capitalised name alone is a case (rule 34).
  NodeId patternMeant(NodeId pattern);
  NodeId one(NodeId splice, Role role);
  void nameTest(TestItem& test, NodeId at);
  void fail(NodeId at, std::string message);
  void finishText(std::vector<StringPart>& parts);

  const Ast& from_;
  Ast& to_;
  Interner& names_;
  unsigned level_ = 1; ///< quotes around the node at hand
  std::optional<CopyProblem> problem_;
};

} // namespace melix::expand
