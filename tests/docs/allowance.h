#pragma once
// Counts of findings by key, against a file of the counts that are allowed. The test fails above an allowance
// and below it, so allowances only shrink.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

/// By `folder kind`: a line of the file is the key and its count; `#` begins a comment.
using Allowance = std::map<std::string, size_t>;

inline Allowance readAllowance(const std::filesystem::path& file) {
  Allowance allowance;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    const size_t gap = line.find_last_of(' ');
    if (gap != std::string::npos && gap > 0)
      allowance[line.substr(0, gap)] = std::stoul(line.substr(gap + 1));
  }
  return allowance;
}

inline void writeAllowance(const Allowance& counts, const std::string& comment,
                           const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "# " << comment << " The numbers only shrink.\n";
  for (const auto& [key, count] : counts) out << key << " " << count << "\n";
}

/// Whether counts are as allowed; `explain` prints more about a key above its allowance. A key without a line
/// is allowed none.
inline bool compare(const Allowance& counts, Allowance allowance,
                    const std::function<void(const std::string& key)>& explain) {
  for (const auto& [key, count] : counts) allowance.try_emplace(key, 0);
  bool good = true;
  for (const auto& [key, allowed] : allowance) {
    const auto found = counts.find(key);
    const size_t count = found == counts.end() ? 0 : found->second;
    if (count == allowed) continue;
    good = false;
    std::cout << key << ": " << count << ", " << allowed << " allowed"
              << (count < allowed ? ": lower the allowance\n" : "\n");
    if (count > allowed) explain(key);
  }
  return good;
}

/// The command line `[--update | --list] ROOT ALLOWANCE`; usage is printed if it is another one.
struct AllowanceArgs {
  bool update = false, list = false, isValid = false;
  std::filesystem::path root, file;

  AllowanceArgs(int argc, char** argv) {
    std::vector<std::string> args(argv + 1, argv + argc);
    update = !args.empty() && args[0] == "--update";
    list = !args.empty() && args[0] == "--list";
    if (update || list) args.erase(args.begin());
    isValid = args.size() == 2;
    if (isValid)
      root = args[0], file = args[1];
    else
      std::cerr << "usage: " << std::filesystem::path(argv[0]).filename().string()
                << " [--update | --list] ROOT ALLOWANCE\n";
  }
};
