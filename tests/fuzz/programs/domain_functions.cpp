// Functions of programs about domains: their sizes, arrays and bodies.
#include "fuzz/programs/domains.h"

#include <algorithm>

namespace melix::fuzz::programs {

namespace {

int64_t sizeOf(Context& c) {
  static const std::vector<int64_t> near = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
  return c.pick(near);
}

std::vector<Dim> dimsOf(Context& c) {
  std::vector<Dim> out;
  bool longOne = c.chance(8);
  size_t count = longOne ? 1 : 2 + c.below(2);
  for (size_t k = 0; k < count; ++k) {
    int64_t a = sizeOf(c), b = sizeOf(c);
    if (k == 2) a = c.between(1, 5), b = c.between(1, 5); // a window
    if (longOne) a = c.between(500, 4100), b = 1024;
    bool constant = c.chance(45);
    out.push_back({constant ? std::to_string(a) : c.freshName("N"), {a, constant ? a : b}});
  }
  if (longOne) out.push_back({std::to_string(c.between(2, 9)), {}});
  if (longOne) out.back().values = {std::stoll(out.back().name), std::stoll(out.back().name)};
  return out;
}

std::vector<std::string> someDims(Context& c, const std::vector<Dim>& dims, size_t rank) {
  std::vector<std::string> out;
  double total = 1;
  for (size_t k = 0; k < rank; ++k) {
    const Dim& dim = c.pick(dims);
    total *= c.guess(dim.name);
    if (total > 4500 && !out.empty()) break;
    out.push_back(dim.name);
  }
  return out;
}

/// Arrays, so that each dimension is the size of one, small numbers and conditions.
void addParameters(Site& s, Function& f, const std::vector<Dim>& dims) {
  Context& c = s.c;
  auto array = [&](std::vector<std::string> sizes) {
    Parameter p{c.freshName("x"), arrayOf(s.element, std::move(sizes))};
    f.parameters.push_back(p);
    s.arrays.push_back(p);
  };
  array({dims[0].name});
  for (size_t k = 1; k < dims.size(); ++k)
    array(c.chance(50) ? std::vector<std::string>{dims[k].name}
                       : std::vector{dims[k - 1].name, dims[k].name});
  if (c.chance(35)) array(someDims(c, dims, 2));
  for (size_t k = c.below(3); k > 0; --k) {
    s.numbers.push_back(c.freshName("k"));
    f.parameters.push_back({s.numbers.back(), integer()});
  }
  if (c.chance(30)) {
    s.flags.push_back(c.freshName("b"));
    f.parameters.push_back({s.flags.back(), truth()});
  }
}

/// A size, of the function or known to it.
Dim dimOf(Context& c, int64_t a, int64_t b) {
  bool constant = c.chance(40);
  return {constant ? std::to_string(a) : c.freshName("N"), {a, constant ? a : b}};
}

/// Rows, inner axis and columns, often of one size.
std::vector<Dim> dimsOfProduct(Context& c) {
  auto size = [&] {
    int64_t out = 99;
    while (out > 33) out = sizeOf(c);
    return out;
  };
  if (c.chance(60)) return {dimOf(c, size(), size())};
  return {dimOf(c, size(), size()), dimOf(c, size(), size()), dimOf(c, size(), size())};
}

/// Outputs, inputs, and of each axis the kernel's, the image's and the result's size.
std::vector<Dim> dimsOfConvolution(Context& c) {
  std::vector<Dim> out = {dimOf(c, c.between(1, 4), c.between(1, 9)),
                          dimOf(c, c.between(1, 4), c.between(1, 4))};
  size_t axes = 1 + c.below(2);
  int64_t most = axes == 1 ? 33 : 9;
  for (size_t k = 0; k < axes; ++k) {
    out.push_back(dimOf(c, c.between(1, axes == 1 ? 7 : 3), c.between(1, 3)));
    out.push_back(dimOf(c, c.between(1, most), c.between(1, most)));
    if (c.chance(50))
      out.push_back(out.back());
    else
      out.push_back(dimOf(c, c.between(1, most), c.between(1, most)));
  }
  return out;
}

void addArray(Site& s, Function& f, std::vector<std::string> sizes) {
  Parameter p{s.c.freshName("x"), arrayOf(s.element, std::move(sizes))};
  f.parameters.push_back(p);
  s.arrays.push_back(p);
}

void addStage(Site& s, NodePtr value, const Type& type, std::vector<NodePtr>& body) {
  NodePtr stage = let(s.c.freshName("t"), std::move(value));
  stage->asked = type;
  body.push_back(stage);
  s.arrays.push_back({stage->name, type});
}

/// `a @ b` and what it is a part of: masks, a second product.
NodePtr productBody(Site& s, Function& f, const std::vector<Dim>& dims, std::vector<NodePtr>& body) {
  Context& c = s.c;
  auto dim = [&](size_t k) { return dims[k % dims.size()].name; };
  addArray(s, f, {dim(0), dim(1)});
  addArray(s, f, {dim(1), dim(2)});
  if (c.chance(30)) addArray(s, f, {dim(2)});
  if (c.chance(35)) {
    const Parameter of = s.arrays[c.below(2)];
    addStage(s, maskedCopy(s, of), of.type, body);
  }
  std::vector<std::string> of = {dim(0), dim(2)};
  NodePtr value = productOf(s, of, dim(1), body);
  for (size_t stages = c.below(4); stages > 0; --stages) {
    addStage(s, value, arrayOf(s.element, of), body);
    if (of.size() == 2 && c.chance(40))
      value = maskedCopy(s, Parameter(s.arrays.back()));
    else if (dims.size() == 1 && c.chance(60))
      value = productOf(s, of = {dim(0), dim(2)}, dim(1), body);
    else
      value = arrayValue(s, of = someDims(c, dims, 1 + c.below(2)), body);
  }
  f.result = arrayOf(s.element, of);
  return value;
}

NodePtr attentionBody(Site& s, Function& f, const std::vector<Dim>& dims, std::vector<NodePtr>& body) {
  const std::string rows = dims[0].name, columns = s.c.chance(70) ? rows : dims[1].name;
  addArray(s, f, {rows, dims[2].name});
  addArray(s, f, {columns, dims[2].name});
  addArray(s, f, {columns, dims[3].name});
  s.sizes = {rows, columns, dims[2].name, dims[3].name}; // what the arrays bind
  f.result = arrayOf(s.element, {rows, dims[3].name});
  return attentionOf(s, body);
}

NodePtr convolutionBody(Site& s, Function& f, const std::vector<Dim>& dims) {
  std::vector<std::string> image = {dims[1].name}, kernel = {dims[0].name, dims[1].name},
                           result = {dims[0].name};
  for (size_t k = 2; k + 2 < dims.size(); k += 3) {
    kernel.push_back(dims[k].name);
    image.push_back(dims[k + 1].name);
    result.push_back(dims[k + 2].name);
  }
  addArray(s, f, image);
  addArray(s, f, kernel);
  if (!isNumeral(result.back()))
    addArray(s, f, result);
  else if (result.size() > 2 && !isNumeral(result[1]))
    addArray(s, f, result);
  f.result = arrayOf(s.element, result);
  return convolutionOf(s, result);
}

} // namespace

std::vector<Dim> dimsFor(Context& c, Shape shape) {
  switch (shape) {
  case Shape::Product: return dimsOfProduct(c);
  case Shape::Convolution: return dimsOfConvolution(c);
  case Shape::Attention: {
    auto few = [&] { return dimOf(c, c.between(1, 9), c.between(1, 9)); };
    auto many = [&] { return dimOf(c, c.between(1, 33), c.between(1, 33)); };
    return {many(), many(), few(), few()};
  }
  default: return dimsOf(c);
  }
}

std::shared_ptr<Function> domainFunction(Context& c, const Type& element, const std::vector<Dim>& dims,
                                         Shape shape, bool graded) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("f");
  Inner inner(c);
  Site s{c, element};
  s.graded = graded;
  for (const Dim& dim : dims) {
    s.sizes.push_back(dim.name);
    auto most = static_cast<double>(std::max(dim.values[0], dim.values[1]));
    if (!isNumeral(dim.name)) {
      f->sizes.push_back(dim.name);
      c.sizes.push_back({dim.name, most, false});
    }
  }
  std::vector<NodePtr> body;
  if (shape != Shape::Any) {
    NodePtr value = shape == Shape::Product       ? productBody(s, *f, dims, body)
                    : shape == Shape::Convolution ? convolutionBody(s, *f, dims)
                                                  : attentionBody(s, *f, dims, body);
    f->body = block(std::move(body), value);
    return f;
  }
  s.simple = c.chance(12);
  if (s.simple) s.most = 25'000;
  addParameters(s, *f, dims);
  for (size_t stages = c.below(3); stages > 0; --stages) {
    std::vector<std::string> of = someDims(c, dims, 1 + c.below(2));
    NodePtr value = arrayValue(s, of, body);
    addStage(s, value, arrayOf(s.element, of), body);
  }
  std::vector<std::string> of = someDims(c, dims, c.chance(12) ? 0 : 1 + c.below(2));
  f->result = of.empty() ? s.element : arrayOf(s.element, of);
  NodePtr value = arrayValue(s, of, body);
  f->body = block(std::move(body), value);
  return f;
}

} // namespace melix::fuzz::programs
