// Expressions, types and patterns.
#include "format/writer.h"

namespace melix::format {

using namespace syntax;

void Writer::node(NodeId id) {
  if (!ok_ || !id) return;
  const Node& n = ast_[id];
  switch (n.kind) {
  case NodeKind::Error: ok_ = false; return;
  case NodeKind::Module: ok_ = false; return;
  case NodeKind::IntLit:
  case NodeKind::FloatLit:
  case NodeKind::BoolLit:
  case NodeKind::CharLit:
  case NodeKind::Name:
  case NodeKind::Underscore:
  case NodeKind::Colon:
  case NodeKind::RestAxes:
  case NodeKind::Continue: return token();
  case NodeKind::String: return string(id);
  case NodeKind::PackUse:
  case NodeKind::FreshDim: return token(), name(n.as<Name>().name);
  case NodeKind::Unary:
    n.as<Unary>().op == UnaryOp::Not ? word() : token();
    return node(n.as<Unary>().operand);
  case NodeKind::Ref:
  case NodeKind::RefPattern:
  case NodeKind::Splice:
  case NodeKind::SpliceMany: return token(), node(n.as<One>().inner);
  case NodeKind::Binary: return binary(id);
  case NodeKind::As: return casts(id);
  case NodeKind::Range: return range(id);
  case NodeKind::Paren: return list(TokenKind::RParen, 1, [&](size_t) { node(n.as<One>().inner); });
  case NodeKind::Tuple: return tuple(id);
  case NodeKind::Array: return array(id);
  case NodeKind::Dict: return dict(id);
  case NodeKind::AxisNames: {
    const NodeList& names = n.as<Many>().items;
    return list(TokenKind::RBracket, names.size(), [&](size_t k) { node(names[k]); });
  }
  case NodeKind::Builder:
  case NodeKind::Generator: return generator(id);
  case NodeKind::Try:
  case NodeKind::Member:
  case NodeKind::TupleIndex:
  case NodeKind::Call:
  case NodeKind::Brackets: return postfix(id);
  case NodeKind::Lambda: return lambda(id);
  case NodeKind::FunctionType: return functionType(id);
  case NodeKind::CasePattern: return casePattern(id);
  case NodeKind::OrPattern: return alternatives(id);
  case NodeKind::Block: {
    Group group(doc_);
    return block(id);
  }
  case NodeKind::If: return ifChain(id);
  case NodeKind::LetCondition:
    word();
    node(n.as<LetCondition>().pattern), doc_.space(), word();
    return node(n.as<LetCondition>().value);
  case NodeKind::Match: return match(id);
  case NodeKind::For:
  case NodeKind::While:
  case NodeKind::Loop:
  case NodeKind::Scope:
  case NodeKind::On: return loopStatement(id);
  case NodeKind::Break:
  case NodeKind::Return:
    token();
    if (n.as<One>().inner) doc_.space(), node(n.as<One>().inner);
    return;
  case NodeKind::Let: return let(id);
  case NodeKind::Assign: node(n.as<Assign>().target), doc_.space(), word(); return node(n.as<Assign>().value);
  case NodeKind::OpAssign:
    node(n.as<OpAssign>().target), doc_.space(), word();
    return node(n.as<OpAssign>().value);
  case NodeKind::Assert: return assertion(id);
  case NodeKind::Sample: return sample(id);
  case NodeKind::MacroUse: return macroUse(id);
  case NodeKind::Quote: return quote(id);
  case NodeKind::KindArgument: return kindArgument(id);
  default: return item(id);
  }
}

/// A name, or the splice in its place.
void Writer::name(NameId name) { syntax::isSpliced(name) ? node(spliceOf(name)) : token(); }

/// `a + b + c`: if it does not fit, every operator of the chain begins a line.
void Writer::binary(NodeId id) {
  std::vector<NodeId> chain; // from the outermost to the leftmost
  BinaryOp first = ast_[id].as<Binary>().op;
  auto level = [](BinaryOp op) {
    switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub: return 1;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Rem:
    case BinaryOp::MatMul: return 2;
    case BinaryOp::Shl:
    case BinaryOp::Shr: return 3;
    default: return 10 + static_cast<int>(op);
    }
  };
  NodeId left = id;
  while (ast_.kind(left) == NodeKind::Binary && level(ast_[left].as<Binary>().op) == level(first)) {
    chain.push_back(left);
    left = ast_[left].as<Binary>().left;
  }
  if (first == BinaryOp::Pow) {
    node(ast_[id].as<Binary>().left);
    token();
    return node(ast_[id].as<Binary>().right);
  }
  Group group(doc_);
  node(left);
  Indent indent(doc_);
  for (size_t k = chain.size(); k-- > 0;) {
    const Binary& b = ast_[chain[k]].as<Binary>();
    // Behind a comment an operator may begin a line, where one without a blank would be a sign.
    bool tight = tight_ > 0 && b.op != BinaryOp::MatMul && !commentsAhead();
    if (!tight) line(" ");
    token();
    if (!tight) doc_.space();
    node(b.right);
  }
}

void Writer::casts(NodeId id) {
  std::vector<NodeId> chain;
  NodeId left = id;
  for (; ast_.kind(left) == NodeKind::As; left = ast_[left].as<Two>().first) chain.push_back(left);
  node(left);
  for (size_t k = chain.size(); k-- > 0;) {
    doc_.space();
    word();
    node(ast_[chain[k]].as<Two>().second);
  }
}

/// `a..b step c`: `i+1..n`, without blanks in its ends.
void Writer::range(NodeId id) {
  const Range& r = ast_[id].as<Range>();
  ++tight_;
  node(r.first);
  token(TokenKind::DotDot);
  node(r.last);
  --tight_;
  if (r.step) {
    doc_.space();
    word();
    node(r.step);
  }
}

/// A base and what is hung on it. A chain of method calls that does not fit has each on a line of its own.
void Writer::postfix(NodeId id) {
  std::vector<NodeId> chain;
  NodeId base = id;
  size_t methods = 0;
  for (bool more = true; more;) {
    const Node& n = ast_[base];
    NodeId next;
    switch (n.kind) {
    case NodeKind::Try: next = n.as<One>().inner; break;
    case NodeKind::Member: next = n.as<Member>().base; break;
    case NodeKind::TupleIndex: next = n.as<TupleIndex>().base; break;
    case NodeKind::Brackets: next = n.as<Brackets>().base; break;
    case NodeKind::Call:
      next = n.as<Call>().callee;
      methods += ast_.kind(next) == NodeKind::Member;
      break;
    default: more = false; continue;
    }
    chain.push_back(base);
    base = next;
  }
  bool breakable = methods >= 3 && !forced(id);
  if (breakable) doc_.beginGroup(), doc_.indent();
  node(base);
  for (size_t k = chain.size(); k-- > 0;) {
    bool method =
        k > 0 && ast_.kind(chain[k]) == NodeKind::Member && ast_.kind(chain[k - 1]) == NodeKind::Call;
    if (breakable && method) line("");
    bool isNumber = k + 1 == chain.size() &&
                    (ast_.kind(base) == NodeKind::IntLit || ast_.kind(base) == NodeKind::FloatLit);
    if (isNumber && ast_.kind(chain[k]) == NodeKind::TupleIndex) doc_.space(); // `1.0` is another number
    suffix(chain[k]);
  }
  if (breakable) doc_.dedent(), doc_.endGroup();
}

void Writer::suffix(NodeId id) {
  unsigned tight = tight_;
  switch (ast_.kind(id)) {
  case NodeKind::Call:
    tight_ = 0;
    arguments(TokenKind::RParen, ast_[id].as<Call>().args);
    break;
  case NodeKind::Brackets:
    tight_ = 0;
    arguments(TokenKind::RBracket, ast_[id].as<Brackets>().items);
    break;
  case NodeKind::Try: token(); break;
  case NodeKind::Member: token(), name(ast_[id].as<Member>().name); break;
  default: token(), token(); break;
  }
  tight_ = tight;
}

/// Whether the last argument may begin on the line of the opening bracket and bring its own lines.
bool Writer::hugs(const std::vector<Argument>& args) const {
  if (args.empty()) return false;
  for (size_t k = 0; k + 1 < args.size(); ++k)
    if (forced(args[k].value)) return false;
  const Node& last = ast_[args.back().value];
  switch (last.kind) {
  case NodeKind::Generator: return true;
  case NodeKind::Lambda: return args.size() == 1 || isBlocky(ast_.kind(last.as<Lambda>().body));
  case NodeKind::Block:
  case NodeKind::Quote:
  case NodeKind::Match: return true;
  case NodeKind::Array:
  case NodeKind::Builder:
  case NodeKind::Dict:
  case NodeKind::Tuple:
  case NodeKind::String: return args.size() == 1;
  default: return false;
  }
}

void Writer::arguments(TokenKind close, const std::vector<Argument>& args) {
  if (!hugs(args)) return list(close, args.size(), [&](size_t k) { argument(args[k]); });
  token();
  for (size_t k = 0; k < args.size(); ++k) {
    if (k > 0) token(TokenKind::Comma), doc_.space();
    argument(args[k]);
  }
  if (is(TokenKind::Comma)) dropComma();
  token(close);
}

void Writer::argument(const Argument& arg) {
  if (arg.label) {
    name(arg.label);
    token(TokenKind::Colon);
    doc_.space();
  }
  node(arg.value);
}

/// Arrays of short literals fill their lines.
void Writer::array(NodeId id) {
  const NodeList& items = ast_[id].as<Many>().items;
  bool numbers = items.size() > 4;
  for (NodeId item : items) {
    NodeKind kind = ast_.kind(item);
    if (kind == NodeKind::Unary) kind = ast_.kind(ast_[item].as<Unary>().operand);
    numbers &= kind == NodeKind::IntLit || kind == NodeKind::FloatLit || kind == NodeKind::BoolLit ||
               kind == NodeKind::CharLit;
  }
  if (!numbers || flat_ > 0)
    return list(TokenKind::RBracket, items.size(), [&](size_t k) { node(items[k]); });
  Group group(doc_);
  token();
  {
    Indent indent(doc_);
    line("");
    listBody(TokenKind::RBracket, items.size(), true, [&](size_t k) { node(items[k]); });
  }
  line("");
  token(TokenKind::RBracket);
}

void Writer::dict(NodeId id) {
  const auto& entries = ast_[id].as<DictEntries>().entries;
  list(TokenKind::RBracket, entries.size(), [&](size_t k) {
    node(entries[k].first);
    token(TokenKind::Colon);
    doc_.space();
    node(entries[k].second);
  });
}

/// `(a, b)`; the comma of `(a,)` stays.
void Writer::tuple(NodeId id) {
  const NodeList& items = ast_[id].as<Many>().items;
  bool one = items.size() == 1;
  unsigned tight = tight_;
  tight_ = 0;
  list(TokenKind::RParen, items.size(), [&](size_t k) {
    node(items[k]);
    if (one) token(TokenKind::Comma);
  });
  tight_ = tight;
}

/// Text as it stands; the code in braces on one line.
void Writer::string(NodeId id) {
  const auto& parts = ast_[id].as<StringLit>().parts;
  unsigned tight = tight_;
  tight_ = 0;
  ++flat_;
  token(TokenKind::StringStart);
  for (const StringPart& part : parts) {
    if (!part.value) {
      token(TokenKind::StringText);
      continue;
    }
    doc_.text(is(TokenKind::LBrace) ? "{ " : "{");
    node(part.value);
    for (NodeId each : part.formatValues) {
      token(TokenKind::FormatText);
      doc_.text(is(TokenKind::LBrace) ? "{ " : "{");
      node(each);
    }
    token(TokenKind::FormatEnd);
  }
  token(TokenKind::StringEnd);
  --flat_;
  tight_ = tight;
}

/// A string without code in it.
void Writer::stringTokens() {
  while (ok_ && !is(TokenKind::StringEnd) && !is(TokenKind::End)) token();
  token();
}

/// `[for i, j: e]`, and `for k: e` as an argument.
void Writer::generator(NodeId id) {
  const Node& n = ast_[id];
  const Builder& b = n.as<Builder>();
  unsigned tight = tight_;
  tight_ = 0;
  Group group(doc_);
  if (n.kind == NodeKind::Builder) token(TokenKind::LBracket);
  token(TokenKind::KwFor);
  if (!b.headers.empty()) {
    doc_.space();
    Group headers(doc_);
    Indent indent(doc_);
    for (size_t k = 0; k < b.headers.size(); ++k) {
      if (k > 0) token(TokenKind::Comma), line(" ");
      header(b.headers[k]);
    }
  }
  if (b.filter) {
    doc_.space(), word();
    node(b.filter);
  }
  token(TokenKind::Colon);
  bool hug = ast_.kind(b.body) == NodeKind::Block && forced(b.body);
  Indent indent(doc_);
  hug ? doc_.space() : line(" ");
  if (hug) doc_.dedent();
  node(b.body);
  if (n.kind == NodeKind::Builder) token(TokenKind::RBracket);
  if (hug) doc_.indent();
  tight_ = tight;
}

void Writer::header(const Header& h) {
  if (h.isPack) token(TokenKind::DotDot);
  node(h.pattern);
  if (h.range) {
    doc_.space(), word();
    node(h.range);
  }
}

void Writer::lambda(NodeId id) {
  const Lambda& l = ast_[id].as<Lambda>();
  if (is(TokenKind::LParen))
    parameters(l.params);
  else
    parameter(l.params[0]);
  doc_.space(), word();
  node(l.body);
}

/// `(A, inout B) -> C`
void Writer::functionType(NodeId id) {
  const FunctionType& f = ast_[id].as<FunctionType>();
  list(TokenKind::RParen, f.params.size(), [&](size_t k) {
    if (f.inout[k]) word();
    node(f.params[k]);
  });
  doc_.space(), word();
  node(f.result);
}

void Writer::casePattern(NodeId id) {
  const CasePattern& c = ast_[id].as<CasePattern>();
  node(c.path);
  if (!c.hasFields) return;
  list(TokenKind::RParen, c.fields.size(), [&](size_t k) {
    const PatternField& f = c.fields[k];
    if (!f.pattern) return token(TokenKind::DotDot);
    if (f.label) name(f.label), word();
    node(f.pattern);
  });
}

void Writer::alternatives(NodeId id) {
  const NodeList& items = ast_[id].as<Many>().items;
  Group group(doc_);
  node(items[0]);
  for (size_t k = 1; k < items.size(); ++k) {
    line(" ");
    word();
    node(items[k]);
  }
}

} // namespace melix::format
