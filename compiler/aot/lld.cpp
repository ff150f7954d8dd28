#include "aot/lld.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace melix::aot {

bool runLld(const std::vector<std::string>& arguments, std::string& messages) {
  std::vector<const char*> argv{"ld.lld"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  llvm::raw_string_ostream out(messages);
  lld::Result result = lld::lldMain(argv, out, out, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0;
}

} // namespace melix::aot
