" Vim syntax of Melix.
if exists("b:current_syntax")
  finish
endif

syntax keyword melixKeyword fn let var if else match for in while loop break continue return struct enum concept macro quote use pub const type extern export inout as and or not true false assert
syntax match melixContextual "\<\(step\|test\|bench\|scope\|on\|pure\|check\|pattern\)\>\ze\s\+[A-Za-z_"0-9(]"
syntax keyword melixType bool char str int i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128
syntax match melixTypeName "\<[A-Z][A-Za-z0-9_]*\>"
syntax match melixNumber "\<\(0x[0-9a-fA-F_]\+\|0b[01_]\+\|0o[0-7_]\+\|\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?\d[0-9_]*\)\?\)\>"
syntax match melixFunction "\(\<\(fn\|macro\)\s\+\)\@<=[A-Za-z_][A-Za-z0-9_]*"
syntax match melixMacro "@[A-Za-z_][A-Za-z0-9_.]*\|\$\(\.\.\)\?[A-Za-z_]*"
syntax match melixOperator "=>\|->\|\.\.\|[-+*%^&|<>=!~?]"

syntax match melixEscape contained "\\u{[0-9a-fA-F]\{1,6}}\|\\[ntr0\\"'{]\|{{\|}}"
syntax region melixInterpolation contained matchgroup=melixEscape start="{{\@!" end="\(:\([^{}"]\|{[^}"]*}\)*\)\?}" contains=TOP
syntax region melixString start=+"+ end=+"\|$+ contains=melixEscape,melixInterpolation
syntax region melixString start=+"""+ end=+"""+ contains=melixEscape,melixInterpolation
syntax region melixString start=+\<r\z(#*\)"+ end=+"\z1\|$+
syntax match melixCharacter "'\(\\u{[0-9a-fA-F]\{1,6}}\|\\.\|[^'\\]\)'"

syntax match melixComment "//.*$" contains=@Spell
syntax match melixDocumentation "///.*$" contains=@Spell
syntax region melixComment start="/\*" end="\*/" contains=melixComment,@Spell

highlight default link melixKeyword Keyword
highlight default link melixContextual Keyword
highlight default link melixType Type
highlight default link melixTypeName Type
highlight default link melixNumber Number
highlight default link melixFunction Function
highlight default link melixMacro Macro
highlight default link melixOperator Operator
highlight default link melixEscape SpecialChar
highlight default link melixString String
highlight default link melixCharacter Character
highlight default link melixComment Comment
highlight default link melixDocumentation SpecialComment

let b:current_syntax = "melix"
