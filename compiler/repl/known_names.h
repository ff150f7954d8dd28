#pragma once
// What is known of names at a moment, for questions from another thread.

#include "repl/kernel/notebook_language.h"

#include <map>

namespace melix::repl {

/// Answers from a table that was made by asking everything once. It knows no files and no macros that wait
/// for their declaration.
class KnownNames : public Questions {
public:
  explicit KnownNames(const Questions& live);

  bool isIncomplete(const std::string& text) const override;
  Matches complete(const std::string& text, size_t cursor) const override;
  std::optional<std::string> inspect(const std::string& name) const override;

private:
  std::vector<Match> askAbout(const Questions& live, const std::string& owner);

  std::map<std::string, std::vector<Match>> names_; ///< by what stands before their point; alone: ``
  std::map<std::string, std::string> told_;
};

} // namespace melix::repl
