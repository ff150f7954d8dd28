// Numbers in comma-separated files (rule 47). Rows are lines (LF or CRLF; blank lines at the end are
// allowed); fields may have blanks around them and may stand in double quotes. What is wrong is told with
// file, line and column.
#include "asked.h"
#include "files.h"
#include "format.h"
#include "parse_number.h"

namespace melix::runtime {

namespace {

struct Place {
  int64_t line = 1;
  const uint8_t* lineStart = nullptr;
};

struct Reader {
  MelixStr path;
  const uint8_t* at;
  const uint8_t* end;
  Place place;
  TextBuffer& error;

  bool atEnd() const { return at == end; }

  bool fail(const uint8_t* where, const char* message) {
    addPlace(where);
    error.add(message);
    return false;
  }
  void addPlace(const uint8_t* where) {
    error.addShown(path);
    error.addByte(':');
    error.addInt(place.line);
    error.addByte(':');
    error.addInt(1 + countChars(place.lineStart, where - place.lineStart));
    error.add(": ");
  }
  const uint8_t* lineEnd() const {
    auto* newline = static_cast<const uint8_t*>(memchr(at, '\n', static_cast<size_t>(end - at)));
    return newline ? newline : end;
  }
  void nextLine() {
    at = lineEnd();
    at += at != end;
    place.line++;
    place.lineStart = at;
  }
  /// True if only blank lines are left.
  bool onlyBlankLeft() const {
    for (const uint8_t* p = at; p != end; p++) {
      if (*p != ' ' && *p != '\t' && *p != '\r' && *p != '\n') return false;
    }
    return true;
  }
};

MelixStr stripped(const uint8_t* from, const uint8_t* to) {
  while (from < to && (*from == ' ' || *from == '\t')) from++;
  while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) to--;
  if (to - from >= 2 && *from == '"' && to[-1] == '"') {
    from++;
    to--;
  }
  return {from, to - from};
}

bool badField(Reader& reader, MelixStr field, uint8_t kind, ParseStatus status) {
  reader.addPlace(field.data);
  if (field.len == 0) {
    reader.error.add("a number is missing");
    return false;
  }
  reader.error.addByte('`');
  reader.error.addShown(field, 40);
  reader.error.add("` ");
  reader.error.add(status == ParseStatus::TooLarge    ? "does not fit "
                   : status == ParseStatus::NoInteger ? "is written as a float, asked for is "
                   : kind == MELIX_KIND_BOOL          ? "is not a bool"
                                                      : "is not a number");
  if (status != ParseStatus::NoNumber) {
    reader.error.addByte('`');
    reader.error.add(kindName(kind));
    reader.error.addByte('`');
  }
  return false;
}

/// `0x10` and the like are literals of programs, not of tables, whatever the type of the column.
bool hasPrefix(MelixStr field) {
  const int64_t sign = field.len > 0 && (*field.data == '-' || *field.data == '+');
  return field.len - sign > 2 && field.data[sign] == '0' && memchr("xbo", field.data[sign + 1], 3);
}

ParseStatus parseField(MelixStr field, uint8_t kind, void* out) {
  return hasPrefix(field) ? ParseStatus::NoNumber : parseScalar(field, kind, out);
}

/// Null, or what the bytes of the file say that it is, instead of lines of text.
const char* otherFormat(const TextBuffer& file) {
  const uint8_t* at = file.data;
  if (file.len < 2) return nullptr;
  if (at[0] == 0x1f && at[1] == 0x8b) return "the file is packed by gzip; unpack it first";
  if ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff))
    return "the file is UTF-16; csv.read takes UTF-8";
  if (file.len >= 4 && memcmp(at, "PK\3\4", 4) == 0) return "the file is an archive, not text";
  return nullptr;
}

/// Reads one field, up to `to`, the comma behind it or the end of the line.
bool readField(Reader& reader, const uint8_t* from, const uint8_t*& to, const uint8_t* lineEnd, uint8_t kind,
               void* out) {
  // Most fields are a number and nothing else.
  to = from + parseFront({from, lineEnd - from}, kind, out);
  if (to != from && (to == lineEnd || *to == ',')) return true;
  auto* comma = static_cast<const uint8_t*>(memchr(from, ',', static_cast<size_t>(lineEnd - from)));
  to = comma ? comma : lineEnd;
  const MelixStr field = stripped(from, to);
  const ParseStatus status = parseField(field, kind, out);
  return status == ParseStatus::Ok || badField(reader, field, kind, status);
}

bool tooMany(Reader& reader, const uint8_t* from, const uint8_t* lineEnd, int64_t columns) {
  auto* comma = static_cast<const uint8_t*>(memchr(from, ',', static_cast<size_t>(lineEnd - from)));
  reader.addPlace(stripped(from, comma ? comma : lineEnd).data);
  reader.error.add("this row has more than the ");
  reader.error.addInt(columns);
  reader.error.add(" numbers of the first row");
  return false;
}

bool tooFew(Reader& reader, const uint8_t* lineEnd, int64_t count, int64_t columns) {
  reader.addPlace(lineEnd > reader.at && lineEnd[-1] == '\r' ? lineEnd - 1 : lineEnd);
  reader.error.add("this row has ");
  reader.error.addInt(count);
  reader.error.add(count == 1 ? " number, the first row has " : " numbers, the first row has ");
  reader.error.addInt(columns);
  return false;
}

/// Appends the numbers of one line; `columns` is their number, or -1 before the first row.
bool readRow(Reader& reader, const MelixType* elem, int64_t& columns, TextBuffer& out) {
  const uint8_t* lineEnd = reader.lineEnd();
  // A number that was read has a byte and a comma.
  const int64_t most = columns >= 0 ? columns : (lineEnd - reader.at) / 2 + 1;
  if (!out.reserve((most + 1) * elem->size)) return reader.fail(reader.at, "out of memory");
  uint8_t* store = out.data + out.len;
  int64_t count = 0;
  const uint8_t* to = reader.at;
  for (const uint8_t* from = to;; from = to + 1) {
    if (columns >= 0 && count == columns) return tooMany(reader, from, lineEnd, columns);
    if (!readField(reader, from, to, lineEnd, elem->kind, store)) return false;
    store += elem->size;
    count++;
    if (to == lineEnd) break;
  }
  out.len = store - out.data;
  if (columns >= 0 && count < columns) return tooFew(reader, lineEnd, count, columns);
  columns = count;
  return true;
}

bool checkDim(Reader& reader, const Asked& asked, int64_t wanted, int64_t found, const char* what) {
  if (wanted < 0 || wanted == found) return true;
  reader.addPlace(reader.place.lineStart);
  reader.error.add("the file has ");
  reader.error.addInt(found);
  reader.error.add(what);
  reader.error.add(", `");
  addAskedType(reader.error, asked);
  reader.error.add("` asks for ");
  reader.error.addInt(wanted);
  return false;
}

/// Reads all rows into `out`; dims for a table, or for a vector that stands in one row or one column.
bool readTable(Reader& reader, const Asked& asked, int64_t skipped, TextBuffer& out, int64_t* dims) {
  int64_t rows = 0, columns = -1;
  int rank = asked.rank();
  int64_t wantedColumns = rank == 2 ? asked.dims[1] : -1;
  while (!reader.onlyBlankLeft()) {
    bool first = rows == 0;
    if (!readRow(reader, asked.elem(), columns, out)) return false;
    if (first && !checkDim(reader, asked, wantedColumns, columns, columns == 1 ? " column" : " columns"))
      return false;
    if (rank == 1 && columns > 1 && rows > 0)
      return reader.fail(reader.at, "a vector is one row or one column, here is a second row");
    rows++;
    reader.nextLine();
  }
  if (rows == 0)
    return reader.fail(reader.at, skipped > 0 ? "there is no row behind the lines that are left out"
                                              : "the file is empty");
  if (rank == 1) {
    dims[0] = rows * columns;
    return checkDim(reader, asked, asked.dims[0], dims[0], dims[0] == 1 ? " number" : " numbers");
  }
  dims[0] = rows;
  dims[1] = columns;
  return checkDim(reader, asked, asked.dims[0], rows, rows == 1 ? " row" : " rows");
}

bool isNumberKind(uint8_t kind) {
  return kind == MELIX_KIND_BOOL || (kind >= MELIX_KIND_I8 && kind <= MELIX_KIND_F64);
}

bool readCsv(MelixStr path, int64_t skip, const Asked& asked, TextBuffer& content, TextBuffer& out,
             int64_t* dims, TextBuffer& error) {
  if (asked.rank() < 1 || asked.rank() > 2 || !isNumberKind(asked.elem()->kind)) {
    error.add("csv.read gives arrays of numbers with one or two dimensions, not `");
    addAskedType(error, asked);
    error.addByte('`');
    return false;
  }
  if (skip < 0) {
    error.add("csv.read cannot leave out ");
    error.addInt(skip);
    error.add(" lines");
    return false;
  }
  if (!readFile(path, content, error)) return false;
  const uint8_t* begin = content.data;
  const uint8_t* end = begin + content.len;
  if (content.len >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0) begin += 3;
  Reader reader{path, begin, end, {1, begin}, error};
  if (const char* other = otherFormat(content)) return reader.fail(begin, other);
  int64_t skipped = 0;
  for (; skipped < skip && !reader.atEnd(); skipped++) reader.nextLine();
  return readTable(reader, asked, skipped, out, dims);
}

void addRow(TextBuffer& out, const MelixType* elem, const uint8_t* row, int64_t columns) {
  const FormatSpec plain;
  for (int64_t k = 0; k < columns; k++) {
    if (k > 0) out.addByte(',');
    formatScalar(out, elem->kind, row + static_cast<uint64_t>(k) * elem->size, plain, false);
  }
  out.addByte('\n');
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_csv_read(MelixTask* task, const uint64_t* args, uint64_t* results) {
  checkStack(task);
  Asked asked(args + 3);
  TextBuffer content, out, error;
  int64_t dims[maxRank];
  bool ok = readCsv(strArg(args), static_cast<int64_t>(args[2]), asked, content, out, dims, error);
  content.release();
  if (!ok) {
    out.release();
    giveError(task, results, asked, error);
    return;
  }
  error.release();
  void* data = melix_alloc(task, out.len);
  if (out.len > 0) memcpy(data, out.data, static_cast<size_t>(out.len));
  out.release();
  giveAsked(task, results, asked, data, dims);
}

void melix_csv_write(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr path = strArg(args);
  auto* type = reinterpret_cast<const MelixType*>(args[2]);
  auto* stored = reinterpret_cast<const uint8_t*>(args[3]);
  TextBuffer out, error;
  if (type->kind != MELIX_KIND_ARRAY || type->rank > 2 || !isNumberKind(type->elem->kind)) {
    error.add("csv.write takes arrays of numbers with one or two dimensions");
    results[0] = 0;
    setStr(results + 1, takeStr(task, error));
    return;
  }
  const uint8_t* data;
  memcpy(&data, stored, sizeof data);
  auto* dims = reinterpret_cast<const int64_t*>(stored + 8);
  int64_t columns = type->rank == 2 ? dims[1] : 1;
  for (int64_t row = 0; row < dims[0]; row++)
    addRow(out, type->elem, data + static_cast<uint64_t>(row * columns) * type->elem->size, columns);
  results[0] = writeFile(path, out.data, out.len, false, error);
  out.release();
  setStr(results + 1, takeStr(task, error));
}
