// Values in memory and their descriptors: the properties of a type for printing, dropping, copying and
// readers. A part of melix/abi.h.
#ifndef MELIX_TYPES_H
#define MELIX_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct MelixType MelixType;

// ---------------------------------------------------------------------------------------------------------
// Values in memory ("stored form"): as list elements, enum payloads, struct fields in memory, and at
//    the `const void*` of a MelixValue.
//
//    bool                1 byte, 0 or 1            char   4 bytes, a Unicode scalar value
//    i8..i64, u8..u64    their size                f8* f16 bf16 f32 f64 c64 c128   their size
//    str                 MelixStr, 16 bytes        unit   0 bytes
//    array of rank r     8 + 8 r bytes: data pointer, then the dims as i64 (dense, row-major)
//    array in place      its elements: a field of a record whose declaration has numbers for the dims
//    array of records    an array for each field, at its offset; the dims of the field come after the array's
//    list                8 bytes: pointer to a list block's data, null when empty
//    tuple, struct       the fields at the offsets of the descriptor
//    flat enum           a tag (bool, u8 or i32) and slots, as a tuple; a field of a case lies in one slot
//                        or several
//    other enum          8 bytes: an immediate word `tag << 1 | 1` for a case without fields, else a pointer
//                        to a node block's data: i32 tag, then the fields at the offsets of the case
//
//    All pointers to counted data point at the *data* of a block; the header begins 64 bytes before it.
// ---------------------------------------------------------------------------------------------------------

// Immutable UTF-8. `data` is null (only if len is 0) or the data of a block: a string owns its block, a slice
// is a copy. Not terminated.
typedef struct MelixStr {
  const uint8_t* data;
  int64_t len;
} MelixStr;

// Before the elements of a list block.
typedef struct MelixListHead {
  int64_t len;
  int64_t cap;
} MelixListHead;
enum { MELIX_LIST_ELEMENTS = 16 }; // byte offset of the first element in a list block's data

// ---------------------------------------------------------------------------------------------------------
// Type descriptors: constant data, emitted by the compiler, read by printing, dropping, copying, readers.
// ---------------------------------------------------------------------------------------------------------

enum MelixKind {
  MELIX_KIND_UNIT = 0,
  MELIX_KIND_BOOL = 1,
  MELIX_KIND_CHAR = 2,
  MELIX_KIND_I8 = 3,
  MELIX_KIND_I16 = 4,
  MELIX_KIND_I32 = 5,
  MELIX_KIND_I64 = 6,
  MELIX_KIND_U8 = 7,
  MELIX_KIND_U16 = 8,
  MELIX_KIND_U32 = 9,
  MELIX_KIND_U64 = 10,
  MELIX_KIND_F16 = 11,
  MELIX_KIND_BF16 = 12,
  MELIX_KIND_F32 = 13,
  MELIX_KIND_F64 = 14,
  MELIX_KIND_F8E4M3 = 15,
  MELIX_KIND_F8E5M2 = 16,
  MELIX_KIND_C64 = 17,
  MELIX_KIND_C128 = 18,
  MELIX_KIND_STR = 19,
  MELIX_KIND_ARRAY = 20,  // elem, rank
  MELIX_KIND_LIST = 21,   // elem
  MELIX_KIND_TUPLE = 22,  // fields (names null)
  MELIX_KIND_STRUCT = 23, // name, fields
  MELIX_KIND_ENUM = 24,   // name, cases
  MELIX_KIND_OPAQUE = 25, // printed as its name (function values and the like); copied as plain bytes
  MELIX_KIND_INSIDE = 26, // one field, which is shown in its place: the parts beside it are sizes
  MELIX_KIND_DICT = 27,   // the library's struct, shown as its entries: fields MELIX_DICT_…
  MELIX_KIND_SET = 28,    // the library's struct, whose field is a DICT, shown as its keys
  // An array of tuples, structs or flat enums: elem, rank, fields (names null), each ARRAY or RECORDS.
  MELIX_KIND_RECORDS = 29,
  // A flat enum: name, fields (names null: the tag, then the slots), cases. The descriptor of a case's field
  // that lies in several slots has the offsets of these, from the enum on.
  MELIX_KIND_CASES = 30,
};

// Fields of a DICT.
enum MelixDictField {
  // A list of u32: 2^BITS of them, then one for each entry, with its highest bit set if it is gone; of
  // integer keys a bit for each entry.
  MELIX_DICT_TABLE = 0,
  MELIX_DICT_ENTRIES = 1, // a list of pairs of a key and a value
  MELIX_DICT_GONE = 2,    // how many of them are gone, in the lower half
  MELIX_DICT_BITS = 3,
};

enum MelixTypeFlags {
  MELIX_HOLDS_REFS = 1, // some part of a stored value is counted: it is released by drops, retained by copies
};

typedef struct MelixField {
  const char* name; // null for a position
  const MelixType* type;
  uint32_t offset; // in the stored form (of a case in a node: from the node's data, after the tag)
} MelixField;

typedef struct MelixCase {
  const char* name;
  const MelixField* fields;
  uint32_t fieldCount;
  uint32_t size; // bytes of the node's data, tag included; 0 if there is no node
} MelixCase;

struct MelixType {
  uint8_t kind;          // MelixKind
  uint8_t rank;          // ARRAY, RECORDS
  uint8_t flags;         // MelixTypeFlags
  uint8_t align;         // of the stored form
  uint32_t size;         // bytes of the stored form; the distance of elements of arrays and lists
  uint32_t fieldCount;   // TUPLE, STRUCT, INSIDE, RECORDS, CASES
  uint32_t caseCount;    // ENUM, CASES
  const char* name;      // STRUCT, ENUM, OPAQUE, CASES
  const MelixType* elem; // ARRAY, LIST, RECORDS
  const MelixField* fields;
  const MelixCase* cases;
  const int64_t* dims; // ARRAY in place, else null
};

// A value together with its type; the value is borrowed.
typedef struct MelixValue {
  const MelixType* type;
  const void* data; // its stored form
} MelixValue;

// Descriptors of the scalar types and str, in the order of MelixKind (index by kind up to MELIX_KIND_STR), so
// that nobody has to emit them again. melix_type_str_list is List[str].
extern const MelixType melix_scalar_types[20];
extern const MelixType melix_type_str_list;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
