#pragma once
// The recursive-descent parser of modules: items and their parts.

#include "parse/body_parser.h"

namespace melix::parse {

class Parser final : public BodyParser {
public:
  using BodyParser::BodyParser;

  void parseModule();

private:
  bool skipStrayBrace();
  void checkHeight();

  // --- parse_item.cpp
  bool parseItemInto(syntax::NodeList& out) override;
  size_t attributesAhead() const;
  NodeId parseFn(uint32_t begin, syntax::FnItem item);
  bool isMethod(uint32_t open) const;
  void skipMethod(std::string_view expected, bool isTold);
  NodeId parseStruct(uint32_t begin, std::vector<syntax::Attribute> attributes, bool isPub);
  void parseCaseInto(std::vector<syntax::CaseDecl>& out) override;
  NodeId parseEnum(uint32_t begin, std::vector<syntax::Attribute> attributes, bool isPub);
  NodeId parseConcept(uint32_t begin, bool isPub);
  NodeId parseMacro(uint32_t begin, bool isPub);
  void parseUse(bool isPub, syntax::NodeList& out);
  NodeId parseConst(uint32_t begin, bool isPub);
  NodeId parseTypeAlias(uint32_t begin, bool isPub);
  NodeId parseTest(uint32_t begin, NodeKind kind);
  NodeId parseCheckItem(uint32_t begin);
  std::vector<syntax::Generic> parseGenerics();
  std::vector<syntax::FieldDecl> parseFields(TokenKind close, bool namesOptional) override;
  std::string parsePlainString();
};

} // namespace melix::parse
