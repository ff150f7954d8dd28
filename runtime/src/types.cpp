// Descriptors of the types that need no compiler to describe them.
#include "melix/abi.h"

namespace {

constexpr MelixType described(uint8_t kind, uint8_t flags, uint8_t align, uint32_t size,
                              const MelixType* elem = nullptr) {
  MelixType type{};
  type.kind = kind;
  type.flags = flags;
  type.align = align;
  type.size = size;
  type.elem = elem;
  return type;
}

constexpr MelixType scalar(uint8_t kind, uint8_t bytes) {
  const uint8_t most = 8, align = bytes > most ? most : bytes > 0 ? bytes : uint8_t{1};
  return described(kind, 0, align, bytes);
}

} // namespace

const MelixType melix_scalar_types[20] = {
    scalar(MELIX_KIND_UNIT, 0),   scalar(MELIX_KIND_BOOL, 1),
    scalar(MELIX_KIND_CHAR, 4),   scalar(MELIX_KIND_I8, 1),
    scalar(MELIX_KIND_I16, 2),    scalar(MELIX_KIND_I32, 4),
    scalar(MELIX_KIND_I64, 8),    scalar(MELIX_KIND_U8, 1),
    scalar(MELIX_KIND_U16, 2),    scalar(MELIX_KIND_U32, 4),
    scalar(MELIX_KIND_U64, 8),    scalar(MELIX_KIND_F16, 2),
    scalar(MELIX_KIND_BF16, 2),   scalar(MELIX_KIND_F32, 4),
    scalar(MELIX_KIND_F64, 8),    scalar(MELIX_KIND_F8E4M3, 1),
    scalar(MELIX_KIND_F8E5M2, 1), scalar(MELIX_KIND_C64, 8),
    scalar(MELIX_KIND_C128, 16),  described(MELIX_KIND_STR, MELIX_HOLDS_REFS, 8, 16),
};

const MelixType melix_type_str_list =
    described(MELIX_KIND_LIST, MELIX_HOLDS_REFS, 8, 8, &melix_scalar_types[MELIX_KIND_STR]);
