#pragma once
// Manages analyses: a result belongs to a function at a version, and is made when it is first asked for.
//
//   const auto uses = analysis<Uses>(m, f);   of the function as it is now
//   LiveUses live(m, f);                      begins as a copy of that
//
// An analysis is a class that is made of a module and a function, or of a function, and that has a `name` and
// `==`. A result stays as it is while somebody holds it; after the function has changed, the next question
// makes another. Results of an older version are dropped.
//
// Where checks are on (MELIX_CHECK_PASSES=1) every question makes the analysis anew and compares it with the
// result that is kept: a difference is a change that raised no version.

#include "core/ir/ir.h"

namespace melix::core {

class Analyses {
public:
  enum class Checks : bool { Off, On };
  Checks checks = Checks::Off;

  template <class A>
  std::shared_ptr<const A> of(const Module& m, FunctionId f) {
    if (const std::shared_ptr<void> kept = find(m, f, A::name)) return std::static_pointer_cast<A>(kept);
    auto made = std::make_shared<A>(make<A>(m, f));
    slotsOf(m, f).push_back({A::name, made, &isSameAnew<A>});
    return made;
  }

  /// A note about the function as it is; empty at first.
  template <class Note>
  std::shared_ptr<Note> note(const Module& m, FunctionId f) {
    if (const std::shared_ptr<void> kept = find(m, f, Note::name))
      return std::static_pointer_cast<Note>(kept);
    auto made = std::make_shared<Note>();
    slotsOf(m, f).push_back({Note::name, made, nullptr});
    return made;
  }

  bool areChecked() const { return checks == Checks::On; }
  /// Writes down that a result does not hold of the function, although its version is the same.
  void refute(const Module& m, FunctionId f, const char* name);
  /// Makes all results anew that are kept of a function as it is, and compares.
  void checkAll(const Module& m);
  /// The first function with a kept result that does not hold of it; empty if there is none.
  const std::string& problem() const { return problem_; }

private:
  struct Slot {
    const char* name; ///< of the analysis, its one string
    std::shared_ptr<void> kept;
    bool (*isSame)(const Module&, FunctionId, const void* kept); ///< null for notes
  };
  struct OfFunction {
    Version::State version;
    std::vector<Slot> slots;
  };

  template <class A>
  static A make(const Module& m, FunctionId f) {
    if constexpr (std::is_constructible_v<A, const Module&, FunctionId>)
      return A(m, f);
    else if constexpr (std::is_constructible_v<A, const Module&, const Function&>)
      return A(m, m.functions[f]);
    else
      return A(m.functions[f]);
  }
  template <class A>
  static bool isSameAnew(const Module& m, FunctionId f, const void* kept) {
    return *static_cast<const A*>(kept) == make<A>(m, f);
  }

  std::vector<Slot>& slotsOf(const Module& m, FunctionId f);
  std::shared_ptr<void> find(const Module& m, FunctionId f, const char* name);
  void checkOne(const Module& m, FunctionId f, const Slot& slot);

  std::vector<OfFunction> functions_;
  std::string problem_;
};

/// The result of an analysis for a function as it is now.
template <class A>
std::shared_ptr<const A> analysis(const Module& m, FunctionId f) {
  return m.analyses->of<A>(m, f);
}

/// Any function may have changed.
void raiseAll(Module& m);

} // namespace melix::core
