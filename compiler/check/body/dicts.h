#pragma once
// Dictionaries and sets: literals, `d[k]`, iteration over them. They are structs of the library
// (dictionaries.mlx), whose functions do the work.

#include "check/body/body.h"

namespace melix::check {

/// The form that the language gives to a declared struct.
types::RecordForm formOf(Checker& checker, const RecordDecl& declared);
/// `[k: v, …]`, at the type asked for if that is a Dict.
NodeId checkDict(Body& body, const syntax::DictEntries& entries, Span span, TypeId expected);
/// `[a, …]` where a Dict (of no entry) or a Set is asked for.
NodeId checkArrayAsked(Body& body, const syntax::Many& items, Span span, TypeId want);
/// `Dict(…)` and `Set(…)` in programs: of a List, an array or an iterator; a Set of its arguments too.
NodeId callDictType(Body& body, DeclId decl, const WrittenCall& call);

/// `d[k]`.
NodeId valueOfKey(Body& body, NodeId dict, const std::vector<syntax::Argument>& items, Span span);
/// Goes on from the place of a Dict to that of a key's value; false after a message.
bool placeOfKey(Body& body, Target& target, const std::vector<syntax::Argument>& items, Span span);
/// Whether an assignment to the target puts a value at a key, which may be new.
bool insertsKey(const Target& target);
/// `d[k] = value`; indices and values are names by now.
NodeId insertAtKey(Body& body, const Target& target, NodeId value, Span span);
/// Whether a step's index is found where the place is changed, and not before.
bool holdsLate(const std::vector<Step>& steps);

/// Whether the fields of a struct are the library's alone.
bool isSealed(Body& body, TypeId type);
/// Says so if values of the type cannot be keys (rule 18).
bool isKey(Body& body, TypeId type, Span span);
/// A struct or enum in a type of keys that has a `==` of its own and no `hash` beside it (rule 48); none if
/// there is none (hashing.cpp).
TypeId unhashedInside(Body& body, TypeId type, Span span);
/// `hash_of(x)` (hashing.cpp).
NodeId callHashOf(Body& body, const CallArg& arg, Span span);
/// `hash`, a u64, combined with `x` after it.
NodeId hashed(Body& body, NodeId hash, NodeId x, Span span);
/// The body of the instance that does so.
NodeId hashedBody(Body& body, NodeId hash, NodeId x, Span span);

/// The List that is walked where a Dict or a Set is iterated; anything else as it is.
NodeId iteratedList(Body& body, NodeId x, Span span);

} // namespace melix::check
