#pragma once
// The state of a function at the current line: the text so far, names of sizes, variables.

#include "types/types.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace melix::decompile {

/// The lines so far, and how deep the next one stands.
class Lines {
public:
  void add(const std::string& text) { text_ += margin() + text + "\n"; }
  void open(const std::string& head) { add(head), indent(); }
  void close(const std::string& tail) { outdent(), add(tail); }
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  std::string margin() const { return std::string(2 * depth_, ' '); }
  /// Takes the lines out.
  std::string take() { return std::exchange(text_, {}); }
  /// Puts lines back that were taken out.
  void putBack(std::string text) { text_ = std::move(text); }

private:
  std::string text_;
  size_t depth_ = 0;
};

/// Sizes that a name or a fact is known of.
class KnownSizes {
public:
  bool contains(types::DimSym s) const { return named_.contains(s); }
  /// Whether it is new.
  bool add(types::DimSym s) { return named_.insert(s).second; }
  void remove(types::DimSym s) { named_.erase(s); }
  /// A size whose name a `let` declares.
  void addLet(types::DimSym s, std::string name) {
    lets_.push_back(std::move(name));
    add(s);
  }
  /// Removes the `let`s of sizes that nothing in the text mentions.
  void dropUnusedLets(std::string& text) const;

  /// A check has found the size to be above zero.
  void addAboveZero(types::DimId d) { aboveZero_.insert(d); }
  bool isAboveZero(types::DimId d) const { return aboveZero_.contains(d); }

  /// Names that are added in the scope are forgotten where it ends.
  class Scope {
  public:
    explicit Scope(KnownSizes& sizes) : sizes_(sizes), outer_(sizes.named_) {}
    Scope(const Scope&) = delete;
    ~Scope() { sizes_.named_ = std::move(outer_); }

  private:
    KnownSizes& sizes_;
    std::set<types::DimSym> outer_;
  };

private:
  std::set<types::DimSym> named_;
  std::vector<std::string> lets_;
  std::set<types::DimId> aboveZero_;
};

/// The `var`s, and in how many comprehensions each stands.
class Variables {
public:
  void add(const std::string& name) { depths_[name] = depth_; }
  bool contains(const std::string& name) const { return depths_.contains(name); }
  /// Whether the comprehension at hand declares it, which may then change it.
  bool isOwn(const std::string& name) const {
    const auto found = depths_.find(name);
    return found != depths_.end() && found->second == depth_;
  }
  void enterComprehension() { ++depth_; }
  void leaveComprehension() { --depth_; }

private:
  std::unordered_map<std::string, int> depths_;
  int depth_ = 0;
};

} // namespace melix::decompile
