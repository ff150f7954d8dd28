// Which order the rule of core/order/order.h gives to the sums of a program, by the shape of what they read.
#include "core/order/order.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "core/text/print.h"

#include <gtest/gtest.h>

#include <regex>

namespace melix::core {
namespace {

/// A sum of a product of reads: `head` are the axes with their extents, an index is a sum of axes (`i`,
/// `2*i`,
/// `-i`), numbers and gathers (`b[i]`). `lines` come first and may give the term itself as `%t`.
struct SumText {
  std::string what, around, head, keep;
  std::vector<std::string> reads;
  std::string order; ///< of all sums, in the order of the text
  std::string lines, type = "f32";
};

void PrintTo(const SumText& sum, std::ostream* out) { *out << sum.what; }

class Writer {
public:
  explicit Writer(const SumText& sum) : sum_(sum) {}

  std::string text() {
    std::string body = nest();
    std::string type = typeOf(sum_.around, "", typeOf(sum_.head, sum_.keep, sum_.type));
    if (!sum_.around.empty())
      body = "  %r = nest (" + percent(sum_.around) + ") -> collect[" + namesOf(sum_.around) + "] {\n" +
             body + "  yield %s\n  } : " + type + "\n";
    std::string params;
    for (const auto& [name, rank] : arrays_) {
      std::string dims = "D";
      for (size_t k = 1; k < rank; ++k) dims += ", D";
      params += (params.empty() ? "%" : ", %") + name + ": " + (name[0] == 'b' ? "i64" : sum_.type) + "[" +
                dims + "]";
    }
    std::set<std::string> symbols{"D"};
    const std::string heads = sum_.around + ", " + sum_.head;
    const std::regex symbol("[A-Z]");
    for (std::sregex_iterator it(heads.begin(), heads.end(), symbol), end; it != end; ++it)
      symbols.insert(it->str());
    std::string dims;
    for (const std::string& s : symbols) dims += (dims.empty() ? "" : ", ") + s;
    return "fn f [" + dims + "] (" + params + ") -> (" + type + ") {\n" + body + "  yield " +
           (sum_.around.empty() ? "%s" : "%r") + "\n}\n";
  }

private:
  static std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> out;
    std::string part;
    int depth = 0;
    for (char c : text + at) {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (c != at || depth > 0) {
        if (c != ' ') part += c;
        continue;
      }
      if (!part.empty()) out.push_back(part);
      part.clear();
    }
    return out;
  }
  static std::string percent(const std::string& head) {
    return std::regex_replace(head, std::regex("([a-z]):"), "%$1:");
  }
  static std::string namesOf(const std::string& head) {
    std::string out;
    for (const std::string& axis : split(head, ','))
      out += (out.empty() ? "" : ", ") + axis.substr(0, axis.find(':'));
    return out;
  }
  /// Of what has these kept axes and elements.
  static std::string typeOf(const std::string& head, const std::string& keep, std::string element) {
    std::string dims;
    for (const std::string& axis : split(head, ',')) {
      const size_t colon = axis.find(':');
      if (head == keep || keep.empty() || keep.find(axis.substr(0, colon)) != std::string::npos)
        dims += (dims.empty() ? "" : ", ") + axis.substr(colon + 1);
    }
    if (head.empty() || dims.empty() || keep == "-") return element;
    const size_t inner = element.find('[');
    return inner == std::string::npos
               ? element + "[" + dims + "]"
               : element.substr(0, inner) + "[" + dims + ", " + element.substr(inner + 1);
  }

  std::string line(const std::string& op) {
    const std::string v = "%v" + std::to_string(next_++);
    lines_ += "  " + v + " = " + op + "\n";
    return v;
  }
  std::string part(const std::string& text) {
    if (text.find('[') != std::string::npos) return read(text, "i64");
    if (text[0] == '-') return line("neg " + part(text.substr(1)) + " : i64");
    const size_t star = text.find('*');
    if (star != std::string::npos)
      return line("mul " + part(text.substr(0, star)) + ", " + part(text.substr(star + 1)) + " : i64");
    return std::isdigit(static_cast<unsigned char>(text[0])) ? line("const " + text + " : i64") : "%" + text;
  }
  std::string index(const std::string& text) {
    std::string all;
    for (const std::string& p : split(text, '+'))
      all = all.empty() ? part(p) : line("add " + all + ", " + part(p) + " : i64");
    return all;
  }
  std::string read(const std::string& text, const std::string& type) {
    const size_t open = text.find('[');
    const std::string array = text.substr(0, open);
    std::string indices;
    const std::vector<std::string> parts = split(text.substr(open + 1, text.size() - open - 2), ',');
    for (const std::string& p : parts) indices += (indices.empty() ? "" : ", ") + index(p);
    if (sum_.lines.find("%" + array + " =") == std::string::npos) arrays_[array] = parts.size();
    return line("get %" + array + "[" + indices + "] : " + type);
  }
  std::string nest() {
    std::string term;
    for (const std::string& r : sum_.reads) {
      const std::string v = read(r, sum_.type);
      term = term.empty() ? v : line("mul " + term + ", " + v + " : " + sum_.type);
    }
    if (term.empty()) term = "%t";
    const std::string keep = sum_.keep == "-" ? "" : sum_.keep;
    return "  %s = nest (" + percent(sum_.head) + ") -> keep[" + keep + "] sum {\n" + sum_.lines + lines_ +
           "  yield " + term + "\n  } : " + typeOf(sum_.head, sum_.keep, sum_.type) + "\n";
  }

  const SumText& sum_;
  std::map<std::string, size_t> arrays_;
  std::string lines_;
  int next_ = 0;
};

std::string ordersOf(const std::string& text) {
  Interner names;
  types::TypeStore types{names};
  Module module{types};
  const std::string error = parseModule(module, text);
  if (!error.empty()) return error + "\n" + text;
  chooseOrders(module);
  for (const std::string& problem : verify(module)) ADD_FAILURE() << problem << "\n" << text;
  const std::string out = printModule(module);
  std::string orders;
  const std::regex order(" (?:sum|prod)( chain| lanes\\([0-9]+, [a-z]+\\))?");
  for (std::sregex_iterator it(out.begin(), out.end(), order), end; it != end; ++it)
    orders += (orders.empty() ? "" : ";") + ((*it)[1].matched ? it->str(1).substr(1) : "none");
  return orders;
}

/// `keep` "-" is none.
const SumText sums[] = {
    // Without kept axes.
    {"dot product", "", "k: K", "-", {"x[k]", "y[k]"}, "lanes(64, k)", "", "f32"},
    {"dot product of doubles", "", "k: K", "-", {"x[k]", "y[k]"}, "lanes(32, k)", "", "f64"},
    {"sum of halves", "", "k: K", "-", {"x[k]"}, "lanes(64, k)", "", "f16"},
    {"total of rank 2", "", "i: M, j: N", "-", {"x[i, j]"}, "lanes(64, j)", "", "f32"},
    {"total of rank 4", "", "i: M, j: N, k: K, l: L", "-", {"x[i, j, k, l]"}, "lanes(64, l)", "", "f32"},
    {"total of a transposed read", "", "i: M, j: N", "-", {"x[j, i]"}, "lanes(64, i)", "", "f32"},
    {"trace", "", "i: N", "-", {"x[i, i]"}, "lanes(64, i)", "", "f32"},
    {"trace of a product", "", "i: N, k: K", "-", {"x[i, k]", "y[k, i]"}, "lanes(64, i)", "", "f32"},
    {"trace of A B transposed", "", "i: N, k: K", "-", {"x[i, k]", "y[i, k]"}, "lanes(64, k)", "", "f32"},
    {"quadratic form", "", "i: N, k: K", "-", {"u[i]", "x[i, k]", "y[k]"}, "lanes(64, k)", "", "f32"},
    {"three weights each", "", "i: N, c: 3", "-", {"x[i, c]", "w[c]"}, "lanes(64, i)", "", "f32"},
    {"sixteen weights each", "", "i: N, c: 16", "-", {"x[i, c]", "w[c]"}, "lanes(64, c)", "", "f32"},
    {"a few by a few", "", "i: 5, c: 3", "-", {"x[i, c]", "w[c]"}, "lanes(64, c)", "", "f32"},
    {"mixed radix", "", "i: N, c: 3", "-", {"x[3*i + c]"}, "lanes(64, i)", "", "f32"},
    {"a column", "", "i: N", "-", {"x[i, 0]"}, "lanes(64, i)", "", "f32"},
    {"reversed", "", "i: N", "-", {"x[-i]", "y[i]"}, "lanes(64, i)", "", "f32"},
    {"strided", "", "i: N", "-", {"x[2*i + 1]"}, "lanes(64, i)", "", "f32"},
    {"gathered", "", "i: N", "-", {"x[b[i]]", "y[i]"}, "lanes(64, i)", "", "f32"},
    {"gathered by rows", "", "i: N, j: M", "-", {"x[b[i], j]"}, "lanes(64, j)", "", "f32"},
    {"computed", "", "i: N, j: M", "-", {}, "lanes(64, j)", "  %t = convert saturate %i : f32\n", "f32"},
    {"literal row", "", "i: 3", "-", {"x[i]"}, "lanes(64, i)", "", "f32"},
    // With kept axes.
    {"matrix and vector", "", "i: M, k: K", "i", {"x[i, k]", "y[k]"}, "lanes(64, k)", "", "f32"},
    {"vector and matrix", "", "j: N, k: K", "j", {"y[k]", "w[k, j]"}, "chain", "", "f32"},
    {"product", "", "i: M, j: N, k: K", "i, j", {"x[i, k]", "w[k, j]"}, "chain", "", "f32"},
    {"product with a transposed", "", "i: M, j: N, k: K", "i, j", {"x[i, k]", "w[j, k]"}, "chain", "", "f32"},
    {"product, axes around", "i: M, j: N", "k: K", "-", {"x[i, k]", "w[k, j]"}, "chain", "", "f32"},
    {"products of a batch",
     "",
     "a: B, i: M, j: N, k: K",
     "a, i, j",
     {"x[a, i, k]", "w[a, k, j]"},
     "chain",
     "",
     "f32"},
    {"one matrix for a batch", "", "a: B, i: M, k: K", "a, i", {"x[i, k]", "y[a, k]"}, "chain", "", "f32"},
    {"a batch of matrices and vectors",
     "",
     "a: B, i: M, k: K",
     "a, i",
     {"x[a, i, k]", "y[a, k]"},
     "lanes(64, k)",
     "",
     "f32"},
    {"a batch around", "a: B", "i: M, k: K", "i", {"x[a, i, k]", "y[a, k]"}, "lanes(64, k)", "", "f32"},
    {"batched dot products", "a: B", "k: K", "-", {"x[a, k]", "y[a, k]"}, "lanes(64, k)", "", "f32"},
    {"row sums", "", "i: M, j: N", "i", {"x[i, j]"}, "lanes(64, j)", "", "f32"},
    {"column sums", "", "i: M, j: N", "j", {"x[i, j]"}, "chain", "", "f32"},
    {"sums of the middle", "", "i: M, j: N, k: K", "i, k", {"x[i, j, k]"}, "chain", "", "f32"},
    {"sums over both ends", "", "i: M, j: N, k: K", "j", {"x[i, j, k]"}, "lanes(64, k)", "", "f32"},
    {"a row of three", "", "i: M, c: 3", "i", {"x[i, c]"}, "lanes(64, c)", "", "f32"},
    {"means of images by channel",
     "",
     "n: N, c: C, i: H, j: W",
     "c",
     {"x[n, c, i, j]"},
     "lanes(64, j)",
     "",
     "f32"},
    {"weighted rows of three",
     "",
     "a: B, i: N, c: 3",
     "a",
     {"x[a, i, c]", "w[c]"},
     "lanes(64, i)",
     "",
     "f32"},
    {"convolution", "", "i: N, p: P", "i", {"x[i + p]", "w[p]"}, "chain", "", "f32"},
    {"convolution of literal size", "", "i: N, p: 3", "i", {"x[i + p]", "w[p]"}, "chain", "", "f32"},
    {"gradient of its filter", "", "i: N, p: 3", "p", {"x[i + p]", "y[i]"}, "lanes(64, i)", "", "f32"},
    {"gradient of a filter of unknown size", "", "i: N, p: P", "p", {"x[i + p]", "y[i]"}, "chain", "", "f32"},
    {"strided convolution", "", "i: N, p: 3", "i", {"x[2*i + p]", "w[p]"}, "chain", "", "f32"},
    {"2-D convolution",
     "",
     "i: H, j: W, p: 5, q: 5",
     "i, j",
     {"x[i + p, j + q]", "w[p, q]"},
     "chain",
     "",
     "f32"},
    {"gradient of its filter, 2-D",
     "",
     "p: 5, q: 5, i: H, j: W",
     "p, q",
     {"x[i + p, j + q]", "y[i, j]"},
     "lanes(64, j)",
     "",
     "f32"},
    {"gradient of a filter of unknown size, 2-D",
     "",
     "p: P, q: Q, i: H, j: W",
     "p, q",
     {"x[i + p, j + q]", "y[i, j]"},
     "chain",
     "",
     "f32"},
    {"convolution of channels",
     "",
     "n: N, o: O, i: H, j: W, c: C, p: 3, q: 3",
     "n, o, i, j",
     {"x[n, c, i + p, j + q]", "w[o, c, p, q]"},
     "chain",
     "",
     "f32"},
    {"depthwise convolution",
     "",
     "n: N, c: C, i: H, j: W, p: 3, q: 3",
     "n, c, i, j",
     {"x[n, c, i + p, j + q]", "w[c, p, q]"},
     "chain",
     "",
     "f32"},
    {"gradient of its filters",
     "",
     "c: C, p: 3, q: 3, n: N, i: H, j: W",
     "c, p, q",
     {"x[n, c, i + p, j + q]", "y[n, c, i, j]"},
     "lanes(64, j)",
     "",
     "f32"},
    {"diagonals", "", "a: B, i: N", "a", {"x[a, i, i]"}, "lanes(64, i)", "", "f32"},
    {"gathered rows", "", "i: M, j: N", "i", {"x[b[i], j]"}, "lanes(64, j)", "", "f32"},
    {"gathered elements", "", "i: M, j: N", "i", {"x[b[i, j]]"}, "chain", "", "f32"},
    {"a matrix by a gathered vector",
     "",
     "i: M, j: N",
     "i",
     {"x[i, j]", "y[b[j]]"},
     "lanes(64, j)",
     "",
     "f32"},
    {"computed rows", "", "i: M, j: N", "i", {}, "chain", "  %t = convert saturate %j : f32\n", "f32"},
    {"matrix elements by index only", "", "i: M, j: N", "i", {"x[i, 0]", "y[i]"}, "chain", "", "f32"},
};

class Orders : public testing::TestWithParam<SumText> {};

TEST_P(Orders, AreThoseOfTheRule) {
  const std::string text = Writer(GetParam()).text();
  EXPECT_EQ(ordersOf(text), GetParam().order) << GetParam().what << "\n" << text;
}

INSTANTIATE_TEST_SUITE_P(Sums, Orders, testing::ValuesIn(sums));

/// What surrounds a sum, and what stands in its term.
TEST(Order, DistancesAreTiles) {
  EXPECT_EQ(ordersOf(R"(fn f [N, K, D] (%x: f32[N, D], %m: f32[K, D]) -> (f32[N, K]) {
  %r = nest (%n: N, %k: K, %j: D) -> keep[n, k] sum {
    %a = get %x[%n, %j] : f32
    %b = get %m[%k, %j] : f32
    %d = sub %a, %b : f32
    %e = mul %d, %d : f32
    yield %e
  } : f32[N, K]
  yield %r
}
)"),
            "chain");
}

/// Of several sweeps at one point each is done by itself: rows of a matrix and a vector. A number of the
/// point is one of its tile.
TEST(Order, OfSeveralSweepsEachIsOneOfTheRow) {
  const std::string scores = R"(
    %s = nest (%j: N, %k: K) -> keep[j] sum {
      %a = get %x[%i, %k] : f32
      %b = get %w[%j, %k] : f32
      %p = mul %a, %b : f32
      yield %p
    } : f32[N]
)",
                    other = R"(
    %m = nest (%l: N) -> keep[] sum {
      %c = get %s[%l] : f32
      yield %c
    } : f32
)";
  auto rows = [](const std::string& body, const std::string& result, const std::string& type) {
    return "fn f [N, K] (%x: f32[N, K], %w: f32[N, K]) -> (" + type +
           ") {\n  %r = nest (%i: N) -> collect[i] {" + body + "    yield " + result + "\n  } : " + type +
           "\n  yield %r\n}\n";
  };
  EXPECT_EQ(ordersOf(rows(scores, "%s", "f32[N, N]")), "chain");
  EXPECT_EQ(ordersOf(rows(scores + other, "%m", "f32[N]")), "lanes(64, k);lanes(64, l)");
}

/// What is summed over the other side of products is a chain of tiles, whatever else its terms read, unless
/// the elements of that side lie as the lanes do, or there are few rows.
TEST(Order, SumsOverASideOfProductsAreChains) {
  auto sum = [](const std::string& row, const std::string& column, const std::string& rows = "N") {
    return "fn f [N, M, K] (%x: f32[" + rows + ", K], %y: f32[M, K], %z: f32[K, M], %w: f32[M]) -> (f32[" +
           rows + "]) {\n  %r = nest (%i: " + rows + ", %j: M) -> keep[i] sum {\n" +
           "    %s = nest (%k: K) -> keep[] sum {\n      %a = get %x[" + row +
           ", %k] : f32\n      %b = get " + column +
           " : f32\n      %p = mul %a, %b : f32\n      yield %p\n    } : f32\n" +
           "    %c = get %w[%j] : f32\n    %q = mul %s, %c : f32\n    yield %q\n  } : f32[" + rows +
           "]\n  yield %r\n}\n";
  };
  EXPECT_EQ(ordersOf(sum("%i", "%y[%j, %k]")), "chain;chain");
  EXPECT_EQ(ordersOf(sum("%i", "%z[%k, %j]")), "lanes(64, j);chain") << "side by side";
  EXPECT_EQ(ordersOf(sum("%i", "%y[%j, %k]", "4")), "lanes(64, j);chain") << "few rows";
  EXPECT_EQ(ordersOf(sum("%j", "%y[%j, %k]")), "lanes(64, j);lanes(64, k)") << "one side";
}

TEST(Order, IndicesOfLoopsAreNoAxes) {
  EXPECT_EQ(ordersOf(R"(fn f [N, K] (%x: f32[N, K], %w: f32[K, N], %n: i64, %z: f32) -> (f32) {
  %r = for collects 0 %n, %z { (%i: i64, %c: f32)
    %s = nest (%k: K) -> keep[] sum {
      %a = get %x[%i, %k] : f32
      %b = get %w[%k, %i] : f32
      %p = mul %a, %b : f32
      yield %p
    } : f32
    %t = nest (%j: N, %k$1: K) -> keep[j] sum {
      %a$1 = get %x[%i, %k$1] : f32
      %b$1 = get %w[%k$1, %j] : f32
      %p$1 = mul %a$1, %b$1 : f32
      yield %p$1
    } : f32[N]
    %u = get %t[%i] : f32
    %v = add %s, %u : f32
    yield %v
  } : f32
  yield %r
}
)"),
            "lanes(64, k);chain");
}

TEST(Order, AxesOfNestsAroundAreKeptThroughLoopsAndBranches) {
  EXPECT_EQ(ordersOf(R"(fn f [N, K] (%x: f32[K, N], %n: i64, %z: f32) -> (f32[N]) {
  %r = nest (%i: N) -> collect[i] {
    %s = for collects 0 %n, %z { (%t: i64, %c: f32)
      %y = cmp gt %c, %z : bool
      %o = if %y {
        %q = nest (%k: K) -> keep[] sum {
          %a = get %x[%k, %i] : f32
          yield %a
        } : f32
        yield %q
      } {
        yield %c
      } : f32
      yield %o
    } : f32
    yield %s
  } : f32[N]
  yield %r
}
)"),
            "chain");
}

TEST(Order, TermsHoldTheAccessesOfNestsArmsAndLoopsInside) {
  // The inner sum sees i kept and j around it; the outer one sees both reads of the inner one.
  EXPECT_EQ(ordersOf(R"(fn f [N, M, K] (%x: f32[N, K], %w: f32[M, K]) -> (f32[N]) {
  %r = nest (%i: N, %j: M) -> keep[i] sum {
    %s = nest (%k: K) -> keep[] sum {
      %a = get %x[%i, %k] : f32
      %b = get %w[%j, %k] : f32
      %p = mul %a, %b : f32
      yield %p
    } : f32
    yield %s
  } : f32[N]
  yield %r
}
)"),
            "chain;chain");
}

TEST(Order, LocalRowsVaryWithTheAxesOfTheirValues) {
  EXPECT_EQ(ordersOf(R"(fn f [N, M] (%x: f32[N, M]) -> (f32[N]) {
  %r = nest (%i: N) -> collect[i] {
    %row = nest (%j: M) -> collect[j] {
      %a = get %x[%i, %j] : f32
      %e = mul %a, %a : f32
      yield %e
    } : f32[M]
    %s = nest (%k: M) -> keep[] sum {
      %b = get %row[%k] : f32
      yield %b
    } : f32
    yield %s
  } : f32[N]
  yield %r
}
)"),
            "lanes(64, k)");
}

TEST(Order, CarriedStateVariesWithWhatTurnsMakeOfIt) {
  // The index is carried: it begins the same everywhere and goes on by the axis.
  EXPECT_EQ(ordersOf(R"(fn f [N, M] (%x: f32[M], %n: i64, %zero: i64) -> (f32[N]) {
  %r = nest (%i: N, %j: M) -> keep[i] sum {
    %at = for collects 0 %n, %zero { (%t: i64, %c: i64)
      %d = add %c, %i : i64
      yield %d
    } : i64
    %a = get %x[%at] : f32
    yield %a
  } : f32[N]
  yield %r
}
)"),
            "chain");
}

TEST(Order, LogSumExpIsOfRows) {
  EXPECT_EQ(ordersOf(R"(fn f [N, M] (%x: f32[N, M], %m: f32[N]) -> (f32[N]) {
  %r = nest (%i: N, %j: M) -> keep[i] sum {
    %a = get %x[%i, %j] : f32
    %b = get %m[%i] : f32
    %d = sub %a, %b : f32
    %e = math exp %d : f32
    yield %e
  } : f32[N]
  yield %r
}
)"),
            "lanes(64, j)");
}

/// Points print in their order, so the last axis is that of the rows, whatever is read.
TEST(Order, OfANestThatPrintsTheRowAxisIsTheLast) {
  const auto sum = [](const std::string& line) {
    return ordersOf("fn f [N, M] (%x: f32[N, M]) -> (f32) {\n  %r = nest (%j: M, %i: N) -> keep[] sum {\n" +
                    std::string("    %a = get %x[%i, %j] : f32\n") + line +
                    "    yield %b\n  } : f32\n  yield %r\n}\n");
  };
  EXPECT_EQ(sum("    %b = add %a, %a : f32\n"), "lanes(64, j)");
  EXPECT_EQ(sum("    %b = debug %a : f32\n"), "lanes(64, i)");
}

/// What is scattered beside a sum comes in the order of the points too.
TEST(Order, OfANestThatAddsTheRowAxisIsTheLast) {
  EXPECT_EQ(ordersOf(R"(fn f [N, M] (%x: f32[N, M], %b: i64[N], %h: f32[N]) -> (f32, f32[N]) {
  %r, %s = nest (%j: M, %i: N) -> keep[] sum accs (%a = %h) {
    %v = get %x[%i, %j] : f32
    %k = get %b[%i] : i64
    %c = add_at %a[%k] += %v : acc f32[N]
    yield %v, %c
  } : f32, f32[N]
  yield %r, %s
}
)"),
            "lanes(64, i)");
}

TEST(Order, ProductsLikeSumsAndNothingElse) {
  EXPECT_EQ(ordersOf(R"(fn f [N] (%x: f32[N], %y: i64[N]) -> (f32, i64) {
  %r = nest (%i: N) -> keep[] prod {
    %a = get %x[%i] : f32
    yield %a
  } : f32
  %s = nest (%j: N) -> keep[] sum {
    %b = get %y[%j] : i64
    yield %b
  } : i64
  yield %r, %s
}
)"),
            "lanes(64, i);none");
}

} // namespace
} // namespace melix::core
