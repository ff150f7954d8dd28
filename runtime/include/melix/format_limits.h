// The largest width and number of digits of a format (rule 5), written or given by a value: for the compiler,
// which refuses larger ones, and the runtime.
#ifndef MELIX_FORMAT_LIMITS_H
#define MELIX_FORMAT_LIMITS_H

#define MELIX_FORMAT_WIDTH 9999
#define MELIX_FORMAT_DIGITS 99

#endif
