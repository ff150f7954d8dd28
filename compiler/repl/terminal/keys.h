#pragma once
// Bytes of a terminal to keys.

#include <optional>
#include <string>
#include <string_view>

namespace melix::repl {

/// A key by its name: `a` or another character that is typed, `paste`, or one of bindings.def, such as
/// `ctrl-a`, `alt-b`, `up`, `ctrl-left`, `enter`.
struct Key {
  std::string name;
  std::string text; ///< typed or pasted; empty for all other keys
};

/// A state machine over bytes. It takes any bytes and drops all that are no key of ours.
class KeyDecoder {
public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// The next key, if its bytes are all there.
  std::optional<Key> next();
  /// Whether a paste has begun whose end has not come.
  bool isPasting() const { return isPaste_; }
  /// Whether bytes are there that more would make a key.
  bool isWaiting() const { return at_ < bytes_.size(); }
  /// After a while without more bytes: a lone escape is the key `escape`, a paste without an end is one
  /// up to here, other unfinished bytes are dropped.
  std::optional<Key> flush();

private:
  std::optional<Key> take(size_t bytes, Key key);
  std::optional<Key> sequence();
  std::optional<Key> pasted();
  std::optional<Key> endPaste(size_t end, size_t more);
  std::optional<Key> typed();

  std::string bytes_;
  size_t at_ = 0;        ///< how many bytes keys were made of
  size_t searched_ = 0;  ///< how many bytes of a paste its end is not in
  bool isPaste_ = false; ///< within one
};

} // namespace melix::repl
