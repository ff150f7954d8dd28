" Indentation and comments of Melix files.
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal commentstring=//\ %s comments=s1:/*,mb:*,ex:*/,:///,://
let b:undo_ftplugin = "setlocal expandtab< shiftwidth< softtabstop< commentstring< comments<"
