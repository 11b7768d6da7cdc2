#include "base/deflate.h"
#include "base/paths.h"
#include "io/npz.h"

namespace sublane::io {
namespace {

constexpr size_t kAlignment = 64;  // of the values, as numpy wants it
constexpr uint64_t kMostBytes = 0xfffffffe;

std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

std::string npyText(const NpyArray& array) {
  std::string text = npyHeader(array.dtype, array.shape);
  text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

}  // namespace

std::string npyHeader(std::string_view dtype, std::span<const int64_t> shape) {
  std::string sizes;
  for (const int64_t size : shape) sizes += fmt::format("{}, ", size);
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  if (shape.size() == 1) sizes.resize(sizes.size() - 1);  // "(3,)"
  std::string head = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, sizes);
  constexpr size_t kBefore = 10;  // magic, version, the head's size
  while ((kBefore + head.size() + 1) % kAlignment != 0) head += ' ';
  head += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + little(head.size(), 2) + head;
}

Status writeNpz(const std::string& path, const std::vector<NpyArray>& arrays) {
  SUBLANE_TRY(AtomicFile file, AtomicFile::create(path));
  std::string list;
  uint64_t offset = 0;
  for (const NpyArray& array : arrays) {
    const std::string name = array.name + ".npy", content = npyText(array);
    // Version 2.0, no flags, stored, midnight of 1980-01-01, checksum, both sizes, the name's.
    const std::string common = little(20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2) +
                               little(crc32Of(content), 4) + little(content.size(), 4) +
                               little(content.size(), 4) + little(name.size(), 2);
    const std::string local = "PK\x03\x04" + common + little(0, 2) + name;
    list += "PK\x01\x02" + little(20, 2) + common + little(0, 2 + 2 + 2 + 2 + 4) + little(offset, 4) + name;
    SUBLANE_CHECK_OK(file.append(local));
    SUBLANE_CHECK_OK(file.append(content));
    offset += local.size() + content.size();
    if (offset > kMostBytes) return inputError("{}: more than 4 GiB do not fit a plain .npz file", path);
  }
  SUBLANE_CHECK_OK(file.append(list + "PK\x05\x06" + little(0, 4) + little(arrays.size(), 2) +
                               little(arrays.size(), 2) + little(list.size(), 4) + little(offset, 4) +
                               little(0, 2)));
  return file.commit();
}

}  // namespace sublane::io
