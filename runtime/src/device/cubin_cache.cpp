// Machine code of GPUs in files, one for each image and kind of card: MELIX_DEVICE_CACHE, or `melix/device`
// in the user's folder for caches. Programs may read and write it at the same time: a file gets its name when
// it is whole. When all of them are too large, those go that were not used for the longest time.
#include "../system.h"
#include "cuda.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::runtime {

namespace {

constexpr uint64_t mostBytes = 1 << 30;
constexpr uint64_t magic = 0x31'6E'69'62'75'63'6C'6D; // "mlcubin1"

struct FileHeader {
  uint64_t magic;
  CubinKey key;
  uint64_t bytes, sum; ///< of the code, which comes next
};

/// Two sums at once, with different factors.
class Hash {
public:
  void add(const void* data, uint64_t bytes) {
    const auto* at = static_cast<const uint8_t*>(data);
    for (uint64_t k = 0; k < bytes; k++) {
      a_ = (a_ ^ at[k]) * 0x100000001B3;
      b_ = (b_ + at[k] + 1) * 0x9E3779B97F4A7C15;
      b_ ^= b_ >> 29;
    }
  }
  CubinKey key() const { return {{a_, b_}}; }

private:
  uint64_t a_ = 0xCBF29CE484222325, b_ = 0x2545F4914F6CDD1D;
};

uint64_t sumOf(const void* data, uint64_t bytes) {
  Hash hash;
  hash.add(data, bytes);
  return hash.key().words[1];
}

/// Makes a folder and those above it.
void makeFolders(char* path) {
  for (char* at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    mkdir(path, 0777);
    *at = '/';
  }
  mkdir(path, 0777);
}

/// The folder of the cache; false if there is none.
bool addFolder(TextBuffer& out) {
  if (const char* own = environmentVariable("MELIX_DEVICE_CACHE")) {
    out.add(own);
    return *own != 0;
  }
  const char *caches = environmentVariable("XDG_CACHE_HOME"), *home = environmentVariable("HOME");
  if (caches && *caches == '/') {
    out.add(caches);
  } else {
    if (!home || *home != '/') return false;
    out.add(home);
    out.add("/.cache");
  }
  out.add("/melix/device");
  return true;
}

const char* textOf(TextBuffer& path) {
  path.addByte('\0');
  return path.data ? reinterpret_cast<const char*>(path.data) : "";
}

void addHex(TextBuffer& out, uint64_t word) {
  for (int shift = 60; shift >= 0; shift -= 4) out.addByte("0123456789abcdef"[word >> shift & 15]);
}

/// `FOLDER/KEY.cubin`, not ended.
bool addFile(TextBuffer& out, const CubinKey& key) {
  if (!addFolder(out)) return false;
  out.addByte('/');
  for (uint64_t word : key.words) addHex(out, word);
  out.add(".cubin");
  return true;
}

/// Reads all of what is asked for.
bool readWhole(int file, void* to, uint64_t bytes) {
  auto* at = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const ssize_t got = read(file, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<uint64_t>(got);
  }
  return true;
}

bool isHeaderOf(const FileHeader& header, const CubinKey& key) {
  return header.magic == magic && header.key.words[0] == key.words[0] &&
         header.key.words[1] == key.words[1] && header.bytes > 0 && header.bytes < mostBytes;
}

/// Null if the file is not what was written.
void* readCode(int file, const CubinKey& key, uint64_t& bytes) {
  FileHeader header;
  if (!readWhole(file, &header, sizeof header) || !isHeaderOf(header, key)) return nullptr;
  void* code = malloc(header.bytes);
  if (!code) return nullptr;
  bytes = header.bytes;
  if (readWhole(file, code, bytes) && sumOf(code, bytes) == header.sum) return code;
  free(code);
  return nullptr;
}

// --- size ------------------------------------------------------------------------------------------------

/// Whether a file is of the cache: the folder may be one of the user's, with files of other kinds.
bool isOfCache(const char* name) {
  for (int k = 0; k < 32; k++)
    if (!strchr("0123456789abcdef", name[k]) || !name[k]) return false;
  return strlen(name) >= 38 && memcmp(name + 32, ".cubin", 6) == 0;
}

struct Found {
  uint64_t bytes = 0; ///< of all files of the cache
  char oldest[256];   ///< the name of the one whose last use is longest ago
};

Found look(DIR* folder) {
  Found found;
  found.oldest[0] = 0;
  timespec least{};
  while (const dirent* entry = readdir(folder)) {
    struct stat file;
    if (!isOfCache(entry->d_name)) continue;
    if (fstatat(dirfd(folder), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) || !S_ISREG(file.st_mode)) continue;
    found.bytes += static_cast<uint64_t>(file.st_size);
    const timespec& time = file.st_mtim;
    const bool isOlder =
        time.tv_sec < least.tv_sec || (time.tv_sec == least.tv_sec && time.tv_nsec < least.tv_nsec);
    if (found.oldest[0] && !isOlder) continue;
    least = time;
    memcpy(found.oldest, entry->d_name, strlen(entry->d_name) + 1);
  }
  return found;
}

void shrink(const char* path) {
  DIR* folder = opendir(path);
  if (!folder) return;
  for (Found found = look(folder); found.bytes > mostBytes && found.oldest[0]; found = look(folder)) {
    if (unlinkat(dirfd(folder), found.oldest, 0)) break;
    rewinddir(folder);
  }
  closedir(folder);
}

/// Writes a file, which gets its name when it is whole. One of that temporary name is another's.
void writeFile(const char* temporary, const char* path, const FileHeader& header, const void* code) {
  const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return;
  const bool isWhole = writeAll(file, reinterpret_cast<const uint8_t*>(&header), sizeof header) &&
                       writeAll(file, static_cast<const uint8_t*>(code), static_cast<int64_t>(header.bytes));
  if (close(file) || !isWhole || rename(temporary, path)) unlink(temporary);
}

} // namespace

CubinKey cubinKey(const MelixImage& image, const GpuInfo& gpu) {
  Hash hash;
  const int32_t machine[] = {gpu.architecture, gpu.driver};
  hash.add(machine, sizeof machine);
  hash.add(image.ptx, static_cast<uint64_t>(image.bytes));
  return hash.key();
}

void* readCubin(const CubinKey& key, uint64_t& bytes) {
  ScopedBuffer path;
  if (!addFile(path, key)) return nullptr;
  const int file = open(textOf(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* code = readCode(file, key, bytes);
  if (code) futimens(file, nullptr);
  close(file);
  return code;
}

void writeCubin(const CubinKey& key, const void* code, uint64_t bytes) {
  ScopedBuffer folder, path, made;
  if (!addFolder(folder) || !addFile(path, key) || !addFile(made, key)) return;
  textOf(folder);
  makeFolders(reinterpret_cast<char*>(folder.data));
  made.addByte('.');
  made.addInt(getpid());
  const FileHeader header{magic, key, bytes, sumOf(code, bytes)};
  writeFile(textOf(made), textOf(path), header, code);
  shrink(textOf(folder));
}

void dropCubin(const CubinKey& key) {
  ScopedBuffer path;
  if (addFile(path, key)) unlink(textOf(path));
}

} // namespace melix::runtime
