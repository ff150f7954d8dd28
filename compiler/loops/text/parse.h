#pragma once
// Reads the text that loops/text/print.h writes: passes are tested from text.
//
//   module    = (record of Core | function)*
//   function  = ("fn" | "chunk" | "kernel") @key "(" [("own" | "dest" | "inout") %param ":" type],… ")" ["->"
//   type,…]
//               ["closed"] ["exported"] ["inlined"] ["named" string] ["of" function of Core] ["entry"] block
//   block     = "{" ["(" %param,… ")"] statement* "}"               the enclosing statement gives their types
//   statement = [%result,… "="] (name of stmts.def | op of Core) attribute and operands [":" type,…] block*
//               the operands stand on the line of the name
//   type      = "data" | "word" | "address" | scalar
//
//   kernel @scale.loop0(%first: i64, %last: i64, %x: data, %y: data) {
//     %one = const 1 : i64
//     for %first, %last { (%i)
//       %a = load %x[%i*%one] : f64
//       …
//
// attr_text.h defines the text between name and types for each attribute: `load %x[%i*%n + %j*%one] by 24 at
// 8 take`, `alloc f64 zeroed %n`, `check "{0} is odd" %c, %n`, `for polls %first, %last, %carried`. Parts
// that follow from the types are not written. Text after `//` is ignored; statements get a location without a
// place.

#include "loops/ir/ir.h"

namespace melix::loops {

struct ParseResult {
  Module module;
  std::string error; ///< the syntax error (line and column), or the errors that verify finds; empty if none
};

/// Adds the records of the text to Core's types. Adds the functions that it only names in `of`, without a
/// body.
ParseResult parse(core::Module& core, std::string_view text);

} // namespace melix::loops
