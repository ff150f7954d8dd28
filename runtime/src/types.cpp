// Descriptors of the types that need no compiler to describe them.
#include "melix/abi.h"

#define SCALAR(kind, bytes)                                                                                  \
  {kind, 0, 0, (bytes) > 8 ? 8 : (bytes) ? (bytes) : 1, bytes, 0, 0, nullptr, nullptr, nullptr, nullptr}

const MelixType melix_scalar_types[20] = {
    SCALAR(MELIX_KIND_UNIT, 0),
    SCALAR(MELIX_KIND_BOOL, 1),
    SCALAR(MELIX_KIND_CHAR, 4),
    SCALAR(MELIX_KIND_I8, 1),
    SCALAR(MELIX_KIND_I16, 2),
    SCALAR(MELIX_KIND_I32, 4),
    SCALAR(MELIX_KIND_I64, 8),
    SCALAR(MELIX_KIND_U8, 1),
    SCALAR(MELIX_KIND_U16, 2),
    SCALAR(MELIX_KIND_U32, 4),
    SCALAR(MELIX_KIND_U64, 8),
    SCALAR(MELIX_KIND_F16, 2),
    SCALAR(MELIX_KIND_BF16, 2),
    SCALAR(MELIX_KIND_F32, 4),
    SCALAR(MELIX_KIND_F64, 8),
    SCALAR(MELIX_KIND_F8E4M3, 1),
    SCALAR(MELIX_KIND_F8E5M2, 1),
    SCALAR(MELIX_KIND_C64, 8),
    SCALAR(MELIX_KIND_C128, 16),
    {MELIX_KIND_STR, 0, MELIX_HOLDS_REFS, 8, 16, 0, 0, nullptr, nullptr, nullptr, nullptr},
};

const MelixType melix_type_str_list = {
    MELIX_KIND_LIST, 0,       MELIX_HOLDS_REFS, 8, 8, 0, 0, nullptr, &melix_scalar_types[MELIX_KIND_STR],
    nullptr,         nullptr,
};
