// What the readers of the methods share: finding the parts of a module, checking them, and putting the matrix
// in their place. Private to the folder.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/quantised.h"
#include "io/tensor_faults.h"

namespace sublane::io {

/// The tensors of the files, and which of them have become parts of matrices.
class PartList {
 public:
  PartList(std::vector<Tensor> raw, std::string source);

  /// The modules that have a tensor MODULE + ending, in file order.
  std::vector<std::string> modulesWith(std::string_view ending) const;
  /// Null when it is not there.
  const Tensor* find(const std::string& name) const;
  /// The same, and it is no tensor of its own any more.
  const Tensor* take(const std::string& name);
  /// `joined` takes the place of `codes`.
  void replace(const Tensor& codes, Tensor joined);

  TensorFaults& faults() { return faults_; }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// Error: all faults, among them parts that no matrix has taken.
  Result<JoinedTensors> finish(bool has_method);

 private:
  std::vector<Tensor> raw_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<bool> taken_;
  std::map<size_t, Tensor> joined_;
  TensorFaults faults_;
  std::vector<std::string> notes_;
};

/// One module while its parts are read. After the first fault nothing more is said about it.
class Module {
 public:
  Module(PartList& list, std::string name) : list_(list), name_(std::move(name)) {}

  /// The part NAME + ending. A missing one is a fault; of `optional` it is not.
  const Tensor* require(std::string_view ending);
  const Tensor* optional(std::string_view ending);
  /// A fault unless the part has one of these types and this shape. `why` says where the shape comes from.
  bool expect(const Tensor* part, std::initializer_list<formats::Packing> types,
              const std::vector<int64_t>& shape, const std::string& why);
  bool expectType(const Tensor* part, std::initializer_list<formats::Packing> types);
  /// A fault unless it has that many sizes, none of them 0: their products are then bounded by the file.
  bool expectDimensions(const Tensor* part, size_t least, size_t most);
  /// The only value of a tensor; a fault if it has more.
  std::optional<float> scalar(const Tensor* part);
  template <class... Args>
  void fault(std::string_view part, fmt::format_string<Args...> format, Args&&... args) {
    if (ok_) list_.faults().add(name_ + std::string(part), format, std::forward<Args>(args)...);
    ok_ = false;
  }
  bool ok() const { return ok_; }
  const std::string& name() const { return name_; }

  /// Checks the matrix and puts the tensor `tensor_name` of that shape in the place of `codes`.
  void finish(const Tensor& codes, std::string tensor_name, std::vector<int64_t> shape,
              formats::QuantisedMatrix matrix);

 private:
  PartList& list_;
  std::string name_;
  std::vector<const Tensor*> parts_;
  bool ok_ = true;
};

/// Types that scales are stored in, apart from the eight-bit ones.
inline constexpr std::initializer_list<formats::Packing> kScaleTypes = {
    formats::Packing::kF32, formats::Packing::kF16, formats::Packing::kBF16};

/// Scales of one tensor, of rows or of blocks, by the shape that they must then have. `block` is of the
/// config.
struct BlockShape {
  int64_t rows, columns;
};
void setScales(formats::QuantisedMatrix& matrix, const Tensor& scales, BlockShape block,
               bool transposed = false);

/// Reads the keys of a method from `config` and joins the modules in `parts`. Faults go to both.
void joinGptq(ConfigReader& config, PartList& parts);
void joinAwq(ConfigReader& config, PartList& parts);
void joinFp8(ConfigReader& config, PartList& parts);
void joinMxfp4(ConfigReader& config, PartList& parts);
void joinCompressedTensors(ConfigReader& config, const Metadata& metadata, PartList& parts);

/// A key of the method: "bits" is "quantization_config.bits".
inline std::string quantKey(std::string_view name) { return "quantization_config." + std::string(name); }
/// "quantization_config.bits = 3 is not supported (4 and 8 are)"
void refuseValue(ConfigReader& config, std::string_view key, const std::string& value,
                 std::string_view supported);

}  // namespace sublane::io
