#pragma once
// The values of a body as the types that are written in it see them.

#include "check/body/body.h"

namespace melix::check {

class BodyValues final : public ValueScope {
public:
  explicit BodyValues(Body& body) : body_(body) {}

  DimId sizeOf(SynId expr) override;
  std::string whyNoSize(NameId name) override;
  std::vector<NameId> names() override { return body_.visibleNames(); }
  TypeId typeOf(NameId name) override;
  void noteRead(NameId dim) override { body_.lookup(dim); }

private:
  Body& body_;
};

} // namespace melix::check
