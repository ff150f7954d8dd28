#pragma once
// The expression before a point in an entry that is being typed, with its type.

#include "check/calls/receiver.h"
#include "repl/aside.h"
#include "repl/cursor.h"

#include <memory>

namespace melix::repl {

/// Checks the entry up to the expression, with its brackets closed: names bound in the entry have their
/// types. If that gives no type, checks the expression alone. Long texts and active ones (Cursor) are not
/// checked.
class TypedReceiver {
public:
  /// Of a member at the cursor, or of the call around it.
  static TypedReceiver ofMember(const Visible& visible, const std::string& text, const Cursor& cursor) {
    return {visible, text, cursor, cursor.receiver, cursor.closing};
  }
  static TypedReceiver ofCall(const Visible& visible, const std::string& text, const Cursor& cursor) {
    return {visible, text, cursor, cursor.call.receiver, cursor.closing.substr(1)}; // without the call's own
  }

  /// None: it has no type.
  types::TypeId type() const { return type_; }
  /// The module that the expression is seen from.
  names::ModuleId module() const { return aside_->module(); }
  /// The functions of a name that take the value first: functions of the entry, imports, the prelude,
  /// functions beside the type.
  std::vector<names::DeclId> methods(NameId name);
  /// The names to ask `methods` for.
  std::vector<NameId> methodNames(const std::string& begin);

private:
  TypedReceiver(const Visible& visible, const std::string& text, const Cursor& cursor, Part receiver,
                const std::string& closing);
  bool tryEntry(const Visible& visible, const std::string& text);
  void tryAlone(const Visible& visible, const std::string& text);

  const Part receiver_;
  session::Session& session_;
  std::unique_ptr<Aside> aside_;
  types::TypeId type_;
  std::unique_ptr<check::Receiver> value_;
  std::vector<names::ModuleId> homes_;
};

} // namespace melix::repl
