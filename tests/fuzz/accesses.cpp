#include "fuzz/accesses.h"

#include "fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

namespace melix::fuzz {

namespace {

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

constexpr std::string_view declarations = R"(struct Holder[A] { w: T[A], k: int }
struct Cell { value: T, tags: T[2] }
fn double(inout x: T) { x *= 2 }
fn double_all(inout x: T[A]) { x *= 2 }
)";

/// Where a call stands. `$call` is one; `$turn` one that may leave an array in the turn `t` alone.
struct Shell {
  std::string_view text;
  bool derives = false; ///< wants floats
};
constexpr std::array shells = {
    Shell{"print($call)\n"},
    Shell{"let _ = $call\n"},
    Shell{"if s < 1000 { print($call) }\n"},
    Shell{"let called = v => $call\nprint(called(v))\n"},
    Shell{"print(map(s => $call, [s, 2 * s]))\n"},
    Shell{"print([for t in 0..4: $turn])\n"},
    Shell{"print([for t in 0..4, u in 0..2: $turn + u as T])\n"},
    Shell{"print(sum(for t in 0..4: $turn))\n"},
    Shell{"var total = s\nfor t in 0..4 {\n  total += $turn\n}\nprint(total)\n"},
    Shell{"var kept: T[4] = zeros()\nfor t in 0..4 { kept[t] = $turn }\nprint(kept)\n"},
    Shell{"for _ in 0..1 {\n  var t = 0\n  while t < 4 {\n    print($turn)\n    t += 1\n  }\n}\n"},
    Shell{"for t in 0..4 { let _ = $turn }\n"},
    Shell{"print(grad(v => $call)(v))\n", true},
    Shell{"print(grad(m => $call)(m))\n", true},
    Shell{"print(grad(c => $call)(c))\n", true},
    Shell{"print(grad(s => $call)(s))\n", true},
    Shell{"print(value_and_grad((v, s) => $call, wrt: (v, s))(v, s))\n", true},
    Shell{"print(jvp(v => $call, v, v))\n", true},
    Shell{"let (y, pull) = vjp(v => $call, v)\nprint(y, pull(2))\n", true},
    Shell{"print(grad(v => sum(for t in 0..4: $turn))(v))\n", true},
    Shell{"print(grad(v => {\n  var total = s\n  for t in 0..4 { total = total * s + $turn }\n  "
          "total\n})(v))\n",
          true},
    Shell{"print([for t in 0..4: grad(v => $turn)(v)])\n", true},
    Shell{"print(hvp(v => $call)(v, v))\n", true},
    Shell{"print(grad(s => sum(grad(v => $call)(v)))(s))\n", true},
};

class Writer {
public:
  Writer(Random& random, const std::vector<AccessForm>& forms, bool leaves)
      : random_(random), forms_(forms), leaves_(leaves) {}

  AccessProgram write(const AccessForm* last) {
    type_ = oneOf({"f64", "f64", "f32", "int"});
    rows_ = oneIn(3) ? 1 + below(4) : oneIn(2) ? 7 + below(3) : 1 + below(70);
    places_ = 1 + below(oneIn(3) ? 4 : 40);
    const size_t count = oneIn(2) ? 1 : 2 + below(3);
    std::string functions, body;
    for (size_t k = 0; k < count; ++k) {
      const bool isLast = k + 1 == count;
      const AccessForm& form = isLast && last ? *last : forms_[below(forms_.size())];
      out_.forms += (k > 0 ? "; " : "") + form.kind + ": " + form.name;
      if (isLast) lineInFunctions_ = lines(functions) + 2 + form.leaves;
      functions += function(form, k);
      if (!isLast || !leaves_ || oneIn(2)) body += call(form, k, false);
      if (isLast && leaves_) body += call(form, k, true);
    }
    finish(functions, body);
    return std::move(out_);
  }

private:
  size_t below(size_t n) { return random_() % n; }
  bool oneIn(size_t n) { return below(n) == 0; }
  std::string oneOf(std::initializer_list<const char*> all) { return all.begin()[below(all.size())]; }
  static std::string number(uint64_t n) { return std::to_string(n); }
  static size_t lines(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  /// The result is now and then not what the access made: then nothing but the panic needs it.
  std::string function(const AccessForm& form, size_t k) {
    std::string out = "fn form" + number(k) +
                      "(v: T[N], m: T[N, 3], c: T[3, N], at: int, ps: int[K], far: int, s: T) -> T {\n";
    const bool isForgotten = form.leaves + 1 < form.lines.size() && oneIn(6);
    for (size_t line = 0; line < form.lines.size(); ++line) {
      const bool isResult = line + 1 == form.lines.size();
      out += "  " + (isResult && isForgotten ? "v[0] * s" : form.lines[line]) + "\n";
    }
    return out + "}\n";
  }

  void finish(const std::string& functions, const std::string& body) {
    const bool hasMain = oneIn(2);
    auto indented = [&](const std::string& text) {
      std::string result;
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);) result += (hasMain ? "  " : "") + line + "\n";
      return result;
    };
    out_.text = std::string(declarations) + functions + (hasMain ? "fn main() {\n" : "") +
                indented(data() + body) + (hasMain ? "}\n" : "");
    replaceAll(out_.text, "T[", type_ + "["), replaceAll(out_.text, "List[T]", "List[" + type_ + "]");
    replaceAll(out_.text, "as T", "as " + type_);
    replaceAll(out_.text, ": T", ": " + type_), replaceAll(out_.text, "> T", "> " + type_);
    out_.line = lines(std::string(declarations)) + lineInFunctions_;
  }

  std::string data() {
    const std::string n = oneIn(2) ? number(rows_) : "black_box(" + number(rows_) + ")";
    const std::string way = oneOf({"", "", "black_box"});
    auto made = [&](const char* name, const std::string& axes, const std::string& value) {
      return std::string("let ") + name + " = " + way + "([for " + axes + ": (" + value + ") as T])\n";
    };
    return "let n = " + n + "\nlet s: T = " + (oneIn(2) ? "2" : "black_box(2)") + "\n" +
           made("v", "i in 0..n", "i * 5 % 11 + 1") + made("m", "i in 0..n, r in 0..3", "i + 2 * r") +
           made("c", "r in 0..3, i in 0..n", "i * 3 % 7 + r");
  }

  // --- indices ------------------------------------------------------------------------------------------

  /// A number however the compiler may come to know it, or not.
  std::string source(int64_t n) {
    const std::string size = number(n < 0 ? ~static_cast<uint64_t>(n) : static_cast<uint64_t>(n));
    const std::string text =
        n < 0 ? "(0 - " + size + " - 1)" : size; // a minus of a literal counts from the end
    const bool isCount = n >= 0 && n < 200;
    switch (below(isCount ? 8 : 4)) {
    case 0:
    case 1: return "black_box(" + text + ")";
    case 2: return "[for i in 0..2: " + text + " + i][0]";
    case 3: return "fill(" + text + ", 2)[1]";
    case 4: return "sum(for i in 0.." + text + ": 1)";
    case 5: return "len(list([for i in 0.." + text + ": i]))";
    case 6: return "max(for i in 0.." + number(static_cast<uint64_t>(n) + 1) + ": i)";
    default: return "(" + text + " + 0 * n)";
    }
  }

  int64_t outside() {
    const auto n = static_cast<int64_t>(rows_);
    const int64_t all[] = {n,
                           n,
                           n,
                           n + 1,
                           n + 2 + static_cast<int64_t>(below(9)),
                           n + 64,
                           2 * n + 100,
                           -1,
                           -1,
                           -2,
                           -n,
                           -64,
                           int64_t(1) << 40,
                           std::numeric_limits<int64_t>::min()};
    return all[below(std::size(all))];
  }

  /// An array of places, one of which leaves if `bad` is one.
  std::string places(std::optional<int64_t> bad) {
    const std::string k = number(places_), n = number(rows_);
    if (!bad) {
      switch (below(4)) {
      case 0: return "[for j in 0.." + k + ": j * 3 % n]";
      case 1: return "fill(" + number(below(rows_)) + ", " + k + ")";
      case 2: return "black_box([for j in 0.." + k + ": (j + 2) % n])";
      default: return "[for j in 0.." + k + ": " + number(below(rows_)) + "]";
      }
    }
    const std::string b = source(*bad);
    const std::string where = number(below(places_));
    switch (below(5)) {
    case 0: return "fill(" + b + ", " + k + ")";
    case 1: return "[for j in 0.." + k + ": " + b + "]";
    case 2: return "black_box([for j in 0.." + k + ": if j == " + where + " { " + b + " } else { j % n }])";
    case 3: return "[for j in 0.." + k + ": if j < " + where + " { (j + 1) % n } else { " + b + " }]";
    default: return "[for j in 0.." + k + ": if j == " + where + " { " + b + " } else { 0 }]";
    }
  }

  /// What a call is given: `at`, `ps` and `far`, one of which leaves what the form reaches.
  struct Given {
    std::string at, ps, far;
  };

  Given inside() {
    return {source(static_cast<int64_t>(below(rows_))), places(std::nullopt),
            source(1 + static_cast<int64_t>(below(rows_)))};
  }

  Given leaving(const AccessForm& form) {
    Given out = inside();
    const std::string n = number(rows_);
    const bool isList = form.kind == "list" || form.kind == "places_list" || form.kind == "far_list";
    auto indexMessage = [&](int64_t at) {
      return "index " + std::to_string(at) + " is out of range for " +
             (isList ? "a list of length " : "an axis of size ") + n;
    };
    if (form.kind == "at" || form.kind == "list") {
      const int64_t bad = outside();
      out.at = source(bad);
      out_.message = indexMessage(bad);
    } else if (form.kind.starts_with("places")) {
      const int64_t bad = outside();
      out.ps = places(bad);
      out_.message = indexMessage(bad);
    } else {
      const int64_t far = static_cast<int64_t>(rows_) + 1 + static_cast<int64_t>(oneIn(2) ? 0 : below(80));
      out.far = source(far);
      const std::string first = std::to_string(far);
      const std::string rest = std::to_string(static_cast<int64_t>(rows_) - far);
      out_.message = form.kind == "rest_filled" ? "dimension N - far is " + rest
                     : form.kind == "down"      ? indexMessage(far - 1)
                     : form.kind == "slice"     ? "slice 0.." + first + " does not fit an axis of size " + n
                     : form.kind == "rest"
                         ? "slice " + first + ".." + n + " does not fit an axis of size " + n
                         : indexMessage(static_cast<int64_t>(rows_));
    }
    return out;
  }

  std::string call(const AccessForm& form, size_t k, bool leaves) {
    const Shell* shell = &shells[below(shells.size())];
    while (shell->derives && type_ == "int") shell = &shells[below(shells.size())];
    const Given good = inside(), bad = leaves ? leaving(form) : good;
    const std::string id = (leaves ? "b" : "a") + number(k);
    std::string before = "let at_" + id + " = " + bad.at + "\nlet ps_" + id + " = " + bad.ps + "\nlet far_" +
                         id + " = " + bad.far + "\n";
    std::string body(shell->text);
    if (shell->derives) // what it is differentiated by counts twice at least
      for (std::string_view each : {"$call", "$turn"}) {
        const std::string sum = "(" + std::string(each) + " + s * s * v[0] * v[0] * (m[0, 0]^2 + c[0, 0]^2))";
        const size_t at = body.find(each);
        if (at != std::string::npos) body.replace(at, each.size(), sum);
      }
    const bool hasTurns = body.find("$turn") != std::string::npos;
    const std::string name = "form" + number(k);
    replaceAll(body, "$call", name + "(v, m, c, at_" + id + ", ps_" + id + ", far_" + id + ", s)");
    if (hasTurns && leaves) {
      before += "let at_in = " + good.at + "\nlet ps_in = " + good.ps + "\nlet far_in = " + good.far + "\n";
      const std::string turn = number(below(4));
      auto either = [&](const std::string& what) {
        return "if t == " + turn + " { " + what + "_" + id + " } else { " + what + "_in }";
      };
      replaceAll(body, "$turn",
                 name + "(v, m, c, " + either("at") + ", " + either("ps") + ", " + either("far") + ", s)");
    }
    replaceAll(body, "$turn", name + "(v, m, c, at_" + id + ", ps_" + id + ", far_" + id + ", s + t as T)");
    // Names of a shell are seen by what stands behind it.
    for (std::string_view own : {"total", "kept", "called", "pull"})
      replaceAll(body, own, std::string(own) + "_" + id);
    replaceAll(body, "(y, ", "(y_" + id + ", ");
    return before + body;
  }

  Random& random_;
  const std::vector<AccessForm>& forms_;
  bool leaves_;
  AccessProgram out_;
  std::string type_;
  size_t rows_ = 1, places_ = 1;
  size_t lineInFunctions_ = 0;
};

} // namespace

std::vector<AccessForm> accessForms() {
  std::istringstream text(readFile(std::string(MELIX_SOURCE_DIR) + "/tests/fuzz/accesses.txt"));
  std::vector<AccessForm> out;
  bool isForm = false; // the head of the file is none
  for (std::string line; std::getline(text, line);) {
    const size_t colon = line.find(": ");
    const bool isHead = line.starts_with("# ") && colon < line.find(' ', 2);
    if (line.empty()) {
      isForm = false;
    } else if (isHead && !isForm) {
      isForm = true;
      out.push_back({line.substr(2, colon - 2), line.substr(colon + 2), {}});
    } else if (isForm) {
      if (line.ends_with(" @")) out.back().leaves = out.back().lines.size(), line.resize(line.size() - 2);
      out.back().lines.push_back(line);
    }
  }
  return out;
}

AccessProgram randomAccesses(Random& random, const std::vector<AccessForm>& forms, bool leaves,
                             const AccessForm* last) {
  return Writer(random, forms, leaves).write(last);
}

} // namespace melix::fuzz
