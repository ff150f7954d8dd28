#include "repl/transcript.h"

#include "parse/parse.h"

#include <algorithm>
#include <utility>

namespace melix::repl {

using namespace syntax;

namespace {

/// Without blanks at both ends, and signs between statements at the begin.
std::string withoutEnds(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n;");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first));
}

/// An entry as text that is parsed by itself.
class EntryPieces {
public:
  EntryPieces(const std::string& text, const std::set<std::string>& vars, const std::set<std::string>& made,
              bool hasIo, bool isShown)
      : vars_(vars), made_(made), hasIo_(hasIo), isShown_(isShown) {
    DiagnosticSink unheard;
    ast_ = parse::parseReplEntry(sources_.add("<prompt>", text), sources_, names_, unheard).ast;
  }

  std::vector<Piece> pieces() {
    const NodeList items = ast_[ast_.root].as<Many>().items;
    std::vector<Piece> out;
    size_t end = 0;
    for (size_t k = 0; k < items.size(); ++k) {
      const Span span = ast_.span(items[k]);
      addComments(out, end, span.begin);
      out.push_back(piece(items[k], k + 1 == items.size()));
      out.back().comments = std::exchange(comments_, "");
      end = span.end;
    }
    addComments(out, end, sources_.text(ast_.file).size());
    if (!out.empty() && !comments_.empty()) out.back().after += "\n" + comments_;
    return out;
  }

private:
  /// The text between two pieces: the rest of a line belongs to the piece before, the other lines to the next
  /// one.
  void addComments(std::vector<Piece>& out, size_t begin, size_t end) {
    const std::string_view between = sources_.text(ast_.file).substr(begin, end - begin);
    const size_t newline = between.find('\n');
    const bool isLine = !out.empty() && newline != std::string_view::npos;
    if (!out.empty()) out.back().after = withoutEnds(between.substr(0, newline));
    comments_ = isLine ? withoutEnds(between.substr(newline)) : out.empty() ? withoutEnds(between) : "";
  }

  Piece piece(NodeId node, bool isLast) {
    Piece out;
    out.text = std::string(sources_.text(ast_.span(node)));
    out.kind = kindOf(node, isLast);
    if (out.kind == PieceKind::Declaration) {
      out.names.insert(std::string(names_.text(declaredName(ast_, node))));
    } else if (out.kind == PieceKind::Made) {
      const NodeId target = targetOf(node);
      if (const NameId name = target ? declaredName(ast_, target) : NameId::none())
        out.names.insert(std::string(names_.text(name)));
      else
        out.names = made_;
    }
    collect(node, out);
    const bool isFree = !calls_ || (!hasIo_ && !mentionsVar(out)); // a method may change its receiver
    const bool isValue = out.kind == PieceKind::Let || out.kind == PieceKind::Shown;
    out.isPure = isValue && isFree && !changes_;
    return out;
  }

  bool mentionsVar(const Piece& piece) const {
    return std::ranges::any_of(piece.mentions, [&](const std::string& name) { return vars_.contains(name); });
  }

  /// The declaration behind the uses of macros.
  NodeId targetOf(NodeId node) const {
    while (node && ast_.kind(node) == NodeKind::MacroUse) node = ast_[node].as<MacroUse>().target;
    return node;
  }

  PieceKind kindOf(NodeId node, bool isLast) const {
    switch (ast_.kind(node)) {
    case NodeKind::Fn:
    case NodeKind::Struct:
    case NodeKind::Enum:
    case NodeKind::Concept:
    case NodeKind::Macro:
    case NodeKind::Const:
    case NodeKind::TypeAlias: return PieceKind::Declaration;
    case NodeKind::Use: return PieceKind::Import;
    case NodeKind::Test:
    case NodeKind::Bench:
    case NodeKind::CheckItem: return PieceKind::Test;
    case NodeKind::Let: return PieceKind::Let;
    case NodeKind::MacroUse: {
      const NodeId target = targetOf(node);
      if (target ? isItem(ast_.kind(target)) : !made_.empty()) return PieceKind::Made;
      break;
    }
    default: break;
    }
    return isLast && isShown_ ? PieceKind::Shown : PieceKind::Statement;
  }

  void collect(NodeId node, Piece& out) {
    calls_ = changes_ = false;
    if (ast_.kind(node) != NodeKind::Let) return visit(node, out.mentions);
    const auto& let = ast_[node].as<Let>();
    std::vector<NameId> bound;
    check::namesInPattern(ast_, let.pattern, bound);
    for (NameId name : bound) out.names.insert(std::string(names_.text(name)));
    for (NodeId part : {let.type, let.init, let.otherwise})
      if (part) visit(part, out.mentions);
  }

  void visit(NodeId node, std::set<std::string>& mentions) {
    std::set<NameId> found;
    collectMentions(ast_, node, names_, found);
    for (NameId name : found) mentions.insert(std::string(names_.text(name)));
    visitKinds(node);
  }

  void visitKinds(NodeId node) {
    const NodeKind kind = ast_.kind(node);
    calls_ |= kind == NodeKind::Call || kind == NodeKind::MacroUse;
    changes_ |= kind == NodeKind::Ref || kind == NodeKind::RefPattern || kind == NodeKind::Assign ||
                kind == NodeKind::OpAssign;
    forEachChild(ast_, node, [&](NodeId child) { visitKinds(child); });
  }

  SourceStore sources_;
  Interner names_;
  Ast ast_;
  const std::set<std::string>&vars_, &made_;
  const bool hasIo_, isShown_;
  std::string comments_; ///< before the next piece
  bool calls_ = false, changes_ = false;
};

} // namespace

bool Transcript::ran(session::Session& session, check::InstanceId instance) {
  const check::Instance& entry = session.checker().program_.instance(instance);
  hasIo_ = entry.io.valid();
  isShown_ = !session.types.isUnit(session.types[entry.result].parts[0]);
  return true;
}

void Transcript::add(const std::string& text, session::Session& session, names::ModuleId module,
                     const std::vector<check::PromptVariable>& variables) {
  std::set<std::string> vars, made;
  for (const check::PromptVariable& v : variables)
    if (v.isVar) vars.insert(std::string(session.names.text(v.name)));
  for (const auto& [name, decls] : session.modules()[module].decls.own())
    for (names::DeclId d : decls)
      if (isMade(session.modules(), d)) made.insert(std::string(session.names.text(name)));
  std::vector<Piece> pieces = EntryPieces(text, vars, made, hasIo_, isShown_).pieces();
  for (Piece& piece : pieces) {
    piece.entry = entries_;
    pieces_.push_back(std::move(piece));
  }
  ++entries_;
  hasIo_ = isShown_ = false;
}

} // namespace melix::repl
