#pragma once
// The known names at a moment, for questions from another thread.

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

  std::map<std::string, std::vector<Match>> names_; ///< by the text up to their point; empty: names alone
  std::map<std::string, std::string> texts_;        ///< of `inspect`
};

} // namespace melix::repl
