#pragma once
// A model of a terminal's screen: what the bytes that a program writes make of it. It knows the sequences
// that the editor may use, and fails a test on any other.

#include <string>
#include <string_view>
#include <vector>

namespace melix::repl {

class ScreenModel {
public:
  ScreenModel(size_t columns, size_t rows) : columns_(columns), rows_(rows, std::u32string(columns, U' ')) {}

  void write(std::string_view bytes);
  /// The rows without spaces at their ends, and without empty rows at the end. A wide character is followed
  /// by nothing.
  std::string text() const;
  size_t cursorRow() const { return row_; }
  size_t cursorColumn() const { return column_; }
  /// Rows are cut or filled up: no terminal wraps them again in tests.
  void resize(size_t columns);
  size_t columns() const { return columns_; }
  size_t height() const { return rows_.size(); }
  /// What was written that a terminal need not know.
  const std::vector<std::string>& unknown() const { return unknown_; }

private:
  void put(char32_t c);
  void newline();
  void sequence(std::string_view parameters, char last);

  size_t columns_, row_ = 0, column_ = 0;
  bool wraps_ = false; ///< the next character goes to the next row
  std::vector<std::u32string> rows_;
  std::string pending_;
  std::vector<std::string> unknown_;
};

} // namespace melix::repl
