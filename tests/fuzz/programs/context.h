#pragma once
// What the generator knows where it stands: names in scope, what statements are allowed, how often the place
// runs, and the random numbers.

#include "fuzz/programs/tree.h"
#include "fuzz/run.h"

#include <initializer_list>

namespace melix::fuzz::programs {

struct Variable {
  std::string name;
  Type type;
  bool assignable = false;
  std::string range = {}; ///< the size whose indices it runs over, if it is an index
};

struct Size {
  std::string name;
  double guess = 6;      ///< for the cost of loops
  bool mayBeZero = true; ///< then nothing is indexed by a remainder
};

/// What a program as a whole may have.
struct Style {
  bool elementary = false; ///< functions whose bits only the compiler's library defines
  bool risky = false;      ///< divisions, conversions and indices that may panic
  bool smooth = false;     ///< floats depend smoothly on floats
  double large = 0;        ///< the size of some arrays, enough for several threads; 0: none
};

struct Context {
  Random& random;
  Program& program;
  Style style{};
  std::vector<Variable> variables{};
  std::vector<Size> sizes{};
  size_t assignableFrom = 0; ///< the first variable that may be assigned here
  Type result{};             ///< of a `return` that may stand here
  unsigned loops = 0;        ///< that `break` and `continue` may leave
  bool prints = false;
  double times = 1; ///< how often the place runs, guessed
  double cost = 0;  ///< nodes evaluated so far, guessed
  double limit = 0; ///< that `cost` should keep below
  unsigned fresh = 0;
  bool indexing = false; ///< an index is being made: those inside of it are plain

  bool chance(unsigned percent) { return random() % 100 < percent; }
  size_t below(size_t n) { return n ? static_cast<size_t>(random() % n) : 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low + 1)));
  }
  template <class List>
  const auto& pick(const List& list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(below(list.size())));
  }
  std::string freshName(const char* prefix) { return prefix + std::to_string(fresh++); }
  /// Whether something that takes so many nodes each time fits what is left.
  bool affords(double nodes) const { return cost + times * nodes <= limit; }
  double guess(const std::string& dim) const;
  bool mayBeZero(const std::string& dim) const;
};

/// What a block declares is gone when it ends.
class Inner {
public:
  explicit Inner(Context& c);
  ~Inner();
  Inner(const Inner&) = delete;
  Inner& operator=(const Inner&) = delete;
  /// The body of a builder or lambda: variables outside stay as they are, nothing is left or printed.
  void pure();
  void repeat(double count) { c_.times *= count; }

private:
  Context& c_;
  size_t variables_, sizes_, assignableFrom_;
  Type result_;
  unsigned loops_;
  bool prints_;
  double times_;
};

struct Alternative {
  unsigned weight;
  std::function<NodePtr()> make; ///< null if it cannot be made here
};
/// One of them, by weight; null if those tried could not be made.
NodePtr choose(Context& c, std::initializer_list<Alternative> alternatives);

// types
Type randomScalar(Context& c);
Type randomNumber(Context& c);
/// A type of values; `depth` bounds what is inside of it.
Type randomType(Context& c, int depth);
std::string randomDim(Context& c);

// expressions
/// A value of the type. `own`: nothing around it says its type.
NodePtr expression(Context& c, Type type, int depth, bool own = true);
/// A small value that needs no name but those of sizes.
NodePtr simplest(const Program& program, const Type& type, const std::function<int64_t(int64_t)>& below);
NodePtr scalarExpression(Context& c, const Type& type, int depth, bool own);
NodePtr arrayExpression(Context& c, const Type& type, int depth, bool own);
NodePtr recordExpression(Context& c, const Type& type, int depth, bool own);
NodePtr leaf(Context& c, const Type& type, bool own);
NodePtr smoothScalar(Context& c, int depth);
/// A call of a function value that gives the type.
NodePtr invoked(Context& c, const Type& type, int depth);

// places
struct PlaceWish {
  bool assignable = false;
  bool inoutOnly = false; ///< a whole variable
};
/// Something of the type that a variable in scope holds; null if there is nothing.
NodePtr placeOf(Context& c, const Type& type, PlaceWish wish = {});
/// A number within the axis; null if that is not certain to exist.
NodePtr indexFor(Context& c, const std::string& dim);

// loops, calls, data
NodePtr reduction(Context& c, const Type& type, int depth);
NodePtr builder(Context& c, const Type& type, int depth, bool implicit = false);
/// A header over `dim` (or over values) whose name is then in scope.
NodePtr header(Context& c, double& trips, bool nonEmpty);
NodePtr callOf(Context& c, const Type& result, int depth);
/// A call of a function without a result, with `&`.
NodePtr inoutCall(Context& c, int depth);
NodePtr lambda(Context& c, const Type& type, int depth);
NodePtr matchOf(Context& c, const Type& type, int depth, bool own);
NodePtr blockOf(Context& c, const Type& type, int depth, bool own);
/// Arguments of a call for the sizes and types chosen.
NodePtr makeCase(Context& c, const Type& type, int depth);

// statements
void statements(Context& c, std::vector<NodePtr>& out, size_t count, int depth);

// programs
void declareTypes(Context& c);
void declareFunctions(Context& c, size_t count);

} // namespace melix::fuzz::programs
