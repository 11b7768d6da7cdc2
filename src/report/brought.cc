#include "report/brought.h"

#include <filesystem>
#include <fstream>

#include "base/mapped_file.h"
#include "base/text.h"
#include "llo/hlo_file.h"
#include "pjrt/dump.h"
#include "report/dump_directory.h"

namespace sublane::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{1} << 30;

struct Read {
  llo::HloModule module;
  bool is_text = false;
};

Result<Read> readModule(const std::string& path) {
  SUBLANE_TRY(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (bytes.size() > kMostBytes)
    return inputError("{}: {} bytes of HLO are more than {}", path, bytes.size(), kMostBytes);
  SUBLANE_TRY(llo::HloModule module, llo::readHloFile(bytes, path));
  return Read{std::move(module), llo::formOf(bytes.substr(0, 4096)) == llo::HloForm::kText};
}

bool hasTiles(const llo::Shape& shape) {
  bool found = false;
  llo::forEachArray(shape, [&](const llo::Shape& array) { found |= !array.layout.tiles.empty(); });
  return found;
}

/// Types whose elements both readers keep.
bool keepsElements(llo::ElementType type) {
  using enum llo::ElementType;
  return type == kF32 || type == kBF16 || type == kS32 || type == kU32 || type == kS8 || type == kU8;
}

/// What a reader of the report should know of the module.
void addNotes(const Read& read, std::vector<std::string>& notes) {
  const llo::HloModule& module = read.module;
  if (!module.is_scheduled)
    notes.emplace_back(
        "the module is not scheduled: it was dumped before the compiler's last passes, and other operations "
        "may run");
  bool tiles = false, left_out = false, sources = false, estimates = false;
  for (const llo::Computation& computation : module.computations) {
    for (const llo::Instruction& at : computation.instructions) {
      tiles = tiles || hasTiles(at.shape);
      sources = sources || !at.metadata.source_file.empty();
      estimates = estimates || at.backend_config.find("estimated_cycles") != std::string::npos;
      left_out = left_out || (at.is("constant") && at.literal.empty() && keepsElements(at.shape.type) &&
                              llo::logicalBytes(at.shape) > 0 && llo::logicalBytes(at.shape) <= 1 << 20);
    }
  }
  if (!tiles)
    notes.emplace_back("no layout has tiles: the module was not compiled for a TPU, or not to the end");
  if (tiles && !estimates)
    notes.emplace_back(
        "the module has no estimates of cycles: it was written before code generation (after_codegen and "
        "compiled.as_text() have them)");
  if (!sources) notes.emplace_back("the module names no source files: operations have no lines");
  if (read.is_text && left_out)
    notes.emplace_back("the text leaves out elements of constants: executing it cannot give their values");
}

/// The operations that run, by name: what two files of one compile have in common. Elements of tuples have no
/// names in some texts, and run for nothing.
std::vector<std::string_view> operations(const llo::HloModule& module) {
  std::vector<std::string_view> names;
  for (const int32_t index : module.entryComputation().schedule) {
    const llo::Instruction& at = module.entryComputation().at(index);
    if (!at.is("get-tuple-element")) names.push_back(at.name);
  }
  return names;
}

/// Nothing, or why a module is not the one that libtpu wrote beside its listings.
std::string whyNotOf(const DumpedModule& dumped, const DumpedHlo& hlo, const llo::HloModule& module) {
  if (dumped.listings_hlo.empty() || dumped.listings_hlo == hlo.path) return "";
  const Result<Read> beside = readModule(dumped.listings_hlo);
  if (!beside.ok() || operations(beside->module) == operations(module)) return "";
  return fmt::format("{}: it is of another compile than {}", hlo.path, dumped.listings_hlo);
}

/// The best of a module's files that can be read; why others could not stays as a note.
Result<BroughtProgram> readDumped(const DumpedModule& dumped, std::vector<std::string> notes) {
  std::optional<Error> first;
  for (const DumpedHlo& hlo : dumped.hlo) {
    if (hlo.stage == Stage::kBefore) continue;
    Result<Read> read = readModule(hlo.path);
    if (!read.ok() && !first) first = read.error();
    const std::string fault = read.ok() ? whyNotOf(dumped, hlo, read->module) : read.error().message();
    if (!fault.empty()) {
      notes.push_back("passed over: " + fault);
      continue;
    }
    addNotes(*read, notes);
    BroughtProgram program{
        .name = read->module.name, .module = std::move(read->module), .form = "dump directory"};
    program.notes = std::move(notes);
    program.path = hlo.path;
    program.dump = pjrt::readListings(dumped.listings);
    return program;
  }
  return *first;
}

Result<BroughtProgram> readDirectory(const std::string& path, const std::string& module) {
  SUBLANE_TRY(const DumpListing listing, listDump(path));
  SUBLANE_TRY(const DumpedModule* dumped, pickModule(listing, module));
  SUBLANE_TRY(BroughtProgram program, readDumped(*dumped, listing.notes));
  if (program.dump.empty())
    program.notes.emplace_back(
        "no listings by libtpu beside it: times are the compiler's estimates and bounds");
  return program;
}

}  // namespace

bool looksBrought(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return !fs::exists(fs::path(path) / "config.json", error) && holdsDump(path);
  if (!fs::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string head(4096, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return llo::formOf(head) != llo::HloForm::kNone;
}

Result<BroughtProgram> readBrought(const std::string& path, const std::string& module) {
  std::error_code error;
  if (fs::is_directory(path, error)) return readDirectory(path, module);
  SUBLANE_TRY(Read read, readModule(path));
  if (!module.empty() && module != read.module.name)
    return inputError("{}: holds one module, {}, not {}", path, inQuotes(read.module.name), inQuotes(module));
  BroughtProgram program{
      .name = read.module.name, .form = read.is_text ? "HLO text" : "HLO proto", .path = path};
  addNotes(read, program.notes);
  program.module = std::move(read.module);
  return program;
}

}  // namespace sublane::report
