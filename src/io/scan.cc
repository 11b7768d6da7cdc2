#include "io/scan.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "io/scan_bytes.h"

namespace sublane::io {
namespace {

struct Piece {
  const Tensor* tensor;
  std::span<const std::byte> bytes;
};

void cut(const Tensor& tensor, std::vector<Piece>& pieces) {
  // A matrix in parts has its NaN among the scales.
  for (const Tensor& part : tensor.parts) cut(part, pieces);
  if (!tensor.parts.empty()) return;
  std::span<const std::byte> rest = tensor.bytes;
  // Whole blocks and whole words, about 2 MB: small enough to share out, large enough not to notice.
  const size_t unit = 8 * static_cast<size_t>(formats::info(tensor.packing).block_bytes);
  const size_t piece_bytes = (2 << 20) / unit * unit;
  while (!rest.empty()) {
    const size_t bytes = std::min(piece_bytes, rest.size());
    pieces.push_back({&tensor, rest.first(bytes)});
    rest = rest.subspan(bytes);
  }
}

}  // namespace

CheckpointScan scanCheckpoint(const Checkpoint& checkpoint, int threads) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Piece> pieces;
  for (const Tensor& tensor : checkpoint.tensors) cut(tensor, pieces);
  std::vector<PieceCounts> counts(pieces.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < pieces.size(); i = next++) {
      counts[i] = scanPiece(pieces[i].tensor->packing, pieces[i].bytes);
    }
  };
  CheckpointScan scan;
  scan.threads = threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < scan.threads; ++i) others.emplace_back(work);
    work();
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    scan.bytes += static_cast<int64_t>(pieces[i].bytes.size());
    scan.nans += counts[i].nans;
    scan.infinities += counts[i].infinities;
    scan.checksum ^= counts[i].checksum;
    if (counts[i].nans + counts[i].infinities == 0) continue;
    const std::string& name = pieces[i].tensor->name;
    if (scan.findings.empty() || scan.findings.back().tensor != name) scan.findings.push_back({name, 0, 0});
    scan.findings.back().nans += counts[i].nans;
    scan.findings.back().infinities += counts[i].infinities;
  }
  scan.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return scan;
}

}  // namespace sublane::io
