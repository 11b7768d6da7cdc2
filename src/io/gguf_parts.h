// The two halves of a GGUF header, each in its own file: metadata (gguf_values.cc), tensors
// (gguf_tensors.cc); and what is said of one that is a part of several (gguf_split.cc). Private to the GGUF
// reader.
#pragma once

#include <cstdint>
#include <vector>

#include "io/byte_reader.h"
#include "io/checkpoint.h"

namespace sublane::io {

/// Reads `count` keys with their values. Errors: damage, unknown value types, arrays of arrays, repeated
/// keys, integers above 2^63 - 1.
Result<Metadata> readGgufMetadata(ByteReader& reader, uint64_t count);

/// general.alignment: unsigned, a power of two, from 8 to 2^24; 32 if absent.
/// That it is stored as u32 is checked by readGgufMetadata, which sees the type.
Result<uint64_t> ggufAlignment(const Metadata& metadata, const std::string& source);

/// Reads `count` tensor descriptions and lays them over the bytes of the file. One error holds every fault.
Result<std::vector<Tensor>> readGgufTensors(ByteReader& reader, uint64_t count, uint64_t alignment,
                                            std::span<const std::byte> file, const std::string& source);

/// Error: the file is one of several parts, by its keys ("split.count"). Where `source` is named as parts
/// are, the message says which of them lie beside it and which are missing.
Status refuseSplitGguf(const Metadata& metadata, const std::string& source);

}  // namespace sublane::io
