#include "repl/saved_program.h"

#include "check/intrinsics/intrinsics.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace melix::repl {

namespace {

constexpr std::string_view sign = "// Saved at the prompt of Melix: ";
constexpr size_t mostRounds = 50; ///< checks of the program; each ends with fewer pieces in it

/// FNV-1a, 64 bits.
std::string checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, hash, 16).ptr;
  return {digits, end};
}

std::string asComment(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += "// " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string firstLine(const std::string& text) {
  const size_t end = text.find('\n');
  return end == std::string::npos ? text : text.substr(0, end) + " …";
}

using NameSet = std::set<std::string>;

bool shareNames(const NameSet& a, const NameSet& b) {
  return std::ranges::any_of(a, [&b](const std::string& name) { return b.contains(name); });
}

/// A piece in the program.
struct Placed {
  explicit Placed(const Piece* of) : piece(of) {}
  const Piece* piece;
  bool isThere = true;
  std::string reason;        ///< of a comment in its place, or above it
  size_t begin = 0, end = 0; ///< in the text of the program
  bool isMoved = false;
  bool isComment() const { return !isThere && !reason.empty(); }
  bool isAt(size_t at) const { return isThere && begin <= at && at < end; }
};

class ProgramWriter {
public:
  ProgramWriter(const Transcript& transcript, session::Session& session, const Definitions& definitions)
      : session_(session), definitions_(definitions) {
    for (const Piece& piece : transcript.pieces()) placed_.emplace_back(&piece);
  }

  SavedProgram write(const CheckProgram& errorsOf) {
    dropDeclarations();
    dropDeadValues();
    for (size_t round = 0; round < mostRounds; ++round) {
      noteRedefinitions();
      const std::string text = textOfAll();
      if (!dropErrors(errorsOf(text))) break;
    }
    SavedProgram out{textOfAll(), {}};
    for (const Placed& each : placed_)
      if (!each.reason.empty())
        out.problems.push_back("`" + firstLine(each.piece->text) + "`: " + each.reason);
    out.text = std::string(sign) + checksum(out.text) + "\n" + out.text;
    return out;
  }

private:
  const Piece& piece(size_t k) const { return *placed_[k].piece; }
  bool isDeclaration(size_t k) const {
    return piece(k).kind == PieceKind::Declaration || piece(k).kind == PieceKind::Made;
  }

  /// Leaves declarations out that later ones replaced, and imports that stand there twice.
  void dropDeclarations() {
    NameSet imports, later;
    std::map<std::string, NameSet> texts; ///< of later declarations, by name
    for (size_t k = placed_.size(); k-- > 0;) {
      const Piece& p = piece(k);
      if (p.kind == PieceKind::Import) placed_[k].isThere = imports.insert(p.text).second;
      if (p.kind == PieceKind::Made) {
        placed_[k].isThere = !shareNames(p.names, later);
      } else if (p.kind == PieceKind::Declaration) {
        const std::string& name = *p.names.begin();
        placed_[k].isThere = isKept(name, p.text) && texts[name].insert(p.text).second;
        if (!placed_[k].isThere && !definitions_.kept.contains(session_.names.intern(name)))
          placed_[k].reason = "a variable has taken its name";
      } else if (p.kind == PieceKind::Let && shareNames(p.names, later)) {
        placed_[k].isThere = false;
        placed_[k].reason = "a declaration has taken its name";
      }
      if (isDeclaration(k)) later.insert(p.names.begin(), p.names.end());
    }
  }

  bool isKept(const std::string& name, const std::string& text) {
    const auto kept = definitions_.kept.find(session_.names.intern(name));
    return kept != definitions_.kept.end() && std::ranges::any_of(kept->second.decls, [&](names::DeclId d) {
             return textOf(session_.modules(), d) == text;
           });
  }

  /// All names that some names may use, through declarations.
  NameSet reached(const NameSet& names) {
    if (usedBy_.empty())
      for (size_t k = 0; k < placed_.size(); ++k)
        if (isDeclaration(k))
          for (const std::string& name : piece(k).names)
            usedBy_[name].insert(piece(k).mentions.begin(), piece(k).mentions.end());
    NameSet out = names;
    std::vector<std::string> open(names.begin(), names.end());
    while (!open.empty()) {
      const auto used = usedBy_.find(open.back());
      open.pop_back();
      if (used == usedBy_.end()) continue;
      for (const std::string& name : used->second)
        if (out.insert(name).second) open.push_back(name);
    }
    return out;
  }

  /// Leaves out shown expressions without an effect, and `let`s without one whose names are bound again
  /// before they are used.
  void dropDeadValues() {
    NameSet bound, needed; ///< later
    for (size_t k = placed_.size(); k-- > 0;) {
      const Piece& p = piece(k);
      if (!placed_[k].isThere || isDeclaration(k) || p.kind == PieceKind::Import) continue;
      if (p.kind == PieceKind::Shown && p.isPure) placed_[k].isThere = false;
      if (p.kind == PieceKind::Let) {
        const bool isDead = std::ranges::all_of(
            p.names, [&](const std::string& name) { return bound.contains(name) && !needed.contains(name); });
        if (p.isPure && isDead) placed_[k].isThere = false;
      }
      if (!placed_[k].isThere) continue;
      for (const std::string& name : p.names) {
        bound.insert(name);
        needed.erase(name);
      }
      needed.merge(reached(p.mentions));
    }
  }

  /// Whether a name has a meaning that a declaration at the prompt would hide.
  bool isOfLibrary(const std::string& name) const {
    const NameId id = session_.names.intern(name);
    return check::findIntrinsic(name) || !session_.modules()[session_.modules().prelude()].named(id).empty();
  }

  /// Says of statements that later entries gave names in them another meaning.
  void noteRedefinitions() {
    std::map<std::string, std::vector<size_t>> declared; ///< pieces by name
    for (size_t k = 0; k < placed_.size(); ++k)
      if (isDeclaration(k))
        for (const std::string& name : piece(k).names) declared[name].push_back(k);
    for (size_t k = 0; k < placed_.size(); ++k) {
      if (isDeclaration(k) || !placed_[k].isThere) continue;
      placed_[k].reason.clear();
      for (const std::string& name : reached(piece(k).mentions))
        if (const auto at = declared.find(name);
            at != declared.end() && hasOtherMeaning(name, at->second, piece(k).entry)) {
          placed_[k].reason = "it ran with an earlier meaning of `" + name + "`";
          break;
        }
    }
  }

  /// Whether the declarations of a name mean something else after an entry than at its time.
  bool hasOtherMeaning(const std::string& name, const std::vector<size_t>& declared, size_t entry) const {
    bool isReplaced = false, isLater = false;
    NameSet texts;
    for (size_t k : declared)
      if (piece(k).entry <= entry) texts.insert(piece(k).text);
    const bool wasThere = !texts.empty();
    for (size_t k : declared) isLater |= piece(k).entry > entry && !texts.contains(piece(k).text);
    for (size_t k : declared)
      isReplaced |= piece(k).entry <= entry && !placed_[k].isThere && !isThereAs(piece(k).text, declared);
    return isLater && (isReplaced || (!wasThere && isOfLibrary(name)));
  }
  bool isThereAs(const std::string& text, const std::vector<size_t>& declared) const {
    return std::ranges::any_of(declared,
                               [&](size_t k) { return placed_[k].isThere && piece(k).text == text; });
  }

  /// The text without the lines that `:save` wrote at the begin of a file.
  static std::string withoutSigns(std::string text) {
    for (size_t at = text.find(sign); at != std::string::npos; at = text.find(sign))
      text.erase(at, std::min(text.find('\n', at), text.size() - 1) + 1 - at);
    return text;
  }

  std::string textOfPiece(const Placed& each) const {
    const Piece& p = *each.piece;
    std::string code = p.kind == PieceKind::Shown ? "let _ = " + p.text : p.text;
    if (!p.after.empty()) code += (p.after.starts_with('\n') ? "" : " ") + p.after;
    code += "\n";
    const std::string comments = withoutSigns(p.comments);
    std::string out = comments.empty() ? "" : comments + "\n";
    if (!each.reason.empty()) out += asComment(each.reason);
    return out + (each.isThere ? code : asComment(code));
  }

  std::string textOfAll() {
    std::string out;
    bool wasLong = false;
    for (Placed& each : placed_) {
      if (!each.isThere && !each.isComment()) continue;
      std::string text = textOfPiece(each);
      const bool isLong = std::ranges::count(text, '\n') > 1;
      if (!out.empty() && (isLong || wasLong)) out += "\n";
      wasLong = isLong;
      each.begin = out.size();
      out += text;
      each.end = out.size();
    }
    return out;
  }

  /// Turns pieces with errors into comments, or moves them. Whether there were some.
  bool dropErrors(const std::vector<ProgramError>& errors) {
    bool any = false;
    for (const ProgramError& error : errors)
      if (error.id == DiagId::ScriptLetAgain) any |= dropRebound(error.name);
    for (const ProgramError& error : errors)
      if (!any && error.id == DiagId::ScriptLetBelow) any |= moveBelow(error.at, error.name);
    for (const ProgramError& error : errors)
      if (!any && error.id == DiagId::ScriptLetUnset) any |= dropCallers(error);
    if (any) return true; // that may have been the cause of the others
    for (const ProgramError& error : errors)
      for (Placed& each : placed_)
        if (each.isAt(error.at)) any |= drop(each, error.message);
    return any;
  }
  /// Drops the statements that call a function before a `let` that it sees.
  bool dropCallers(const ProgramError& error) {
    bool any = false;
    for (Placed& each : placed_)
      for (size_t at : error.calls)
        if (each.isAt(at) && each.piece->kind != PieceKind::Declaration) any |= drop(each, error.message);
    return any;
  }
  /// Moves a function below the `let` that it sees, once.
  bool moveBelow(size_t at, const std::string& name) {
    const auto function = std::ranges::find_if(placed_, [&](const Placed& each) { return each.isAt(at); });
    if (function == placed_.end() || function->isMoved) return false;
    const auto let = std::find_if(function, placed_.end(), [&](const Placed& each) {
      return each.isThere && each.piece->kind == PieceKind::Let && each.piece->names.contains(name);
    });
    if (let == placed_.end()) return false;
    function->isMoved = true;
    std::rotate(function, function + 1, let + 1);
    return true;
  }
  static bool drop(Placed& each, const std::string& reason) {
    each.isThere = false;
    each.reason = reason;
    return true;
  }
  /// Drops all but the last `let` of a name.
  bool dropRebound(const std::string& name) {
    bool any = false, isLast = true;
    for (size_t k = placed_.size(); k-- > 0;) {
      if (piece(k).kind != PieceKind::Let || !placed_[k].isThere || !piece(k).names.contains(name)) continue;
      if (!isLast) any |= drop(placed_[k], "`" + name + "`, which a function uses, was bound again");
      isLast = false;
    }
    return any;
  }

  session::Session& session_;
  const Definitions& definitions_;
  std::vector<Placed> placed_;
  std::map<std::string, NameSet> usedBy_; ///< the names that declarations of a name mention
};

} // namespace

SavedProgram savedProgram(const Transcript& transcript, session::Session& session,
                          const Definitions& definitions, const CheckProgram& errorsOf) {
  return ProgramWriter(transcript, session, definitions).write(errorsOf);
}

bool isSavedProgram(std::string_view text) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(sign.size());
  const size_t end = text.find('\n');
  return end != std::string_view::npos && text.substr(0, end) == checksum(text.substr(end + 1));
}

} // namespace melix::repl
