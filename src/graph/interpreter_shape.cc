#include <algorithm>
#include <cstring>

#include "graph/interpreter_ops.h"

namespace sublane::graph {

Shape denseStrides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Array gatherStrided(const Array& in, Type result, const Shape& strides, int64_t offset) {
  Array out = zeros(std::move(result));
  const Shape& shape = out.type.shape;
  int64_t count = elementCount(shape), run = 1;  // of elements that lie side by side in both
  size_t outer = shape.size();
  while (outer > 0 && strides[outer - 1] == run) run *= shape[--outer];
  int64_t width = formats::bytesPerElement(out.type.dtype);
  Shape index(outer, 0);
  for (int64_t i = 0; i < count; i += run) {
    std::memcpy(out.data.data() + i * width, in.data.data() + offset * width,
                static_cast<size_t>(run * width));
    for (size_t axis = outer; axis-- > 0;) {  // the next index, last axis fastest
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

Array permuted(const Array& in, const std::vector<int64_t>& order) {
  Shape dense = denseStrides(in.type.shape), shape, strides;
  for (int64_t axis : order) {
    shape.push_back(in.type.shape[static_cast<size_t>(axis)]);
    strides.push_back(dense[static_cast<size_t>(axis)]);
  }
  return gatherStrided(in, {in.type.dtype, shape}, strides);
}

namespace {

Array runIota(const Call& call) {
  const Shape& shape = call.result.shape;
  size_t axis = static_cast<size_t>(call.attrs<AxisAttrs>().axis);
  int64_t stride = denseStrides(shape)[axis];
  std::vector<int64_t> out(static_cast<size_t>(elementCount(shape)));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(i) / stride % shape[axis];
  return packIntegers(call.result, out);
}

Array runBroadcast(const Call& call) {
  const std::vector<int64_t>& dims = call.attrs<DimsAttrs>().dims;
  const Shape& shape = call.in[0]->type.shape;
  Shape dense = denseStrides(shape), strides(call.result.shape.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i)
    if (shape[i] != 1) strides[static_cast<size_t>(dims[i])] = dense[i];
  return gatherStrided(*call.in[0], call.result, strides);
}

Array runSlice(const Call& call) {
  Shape strides = denseStrides(call.in[0]->type.shape);
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) offset += call.attrs<SliceAttrs>().starts[i] * strides[i];
  return gatherStrided(*call.in[0], call.result, strides, offset);
}

Array runConcatenate(const Call& call) {
  Array out = zeros(call.result);
  size_t axis = static_cast<size_t>(call.attrs<AxisAttrs>().axis);
  int64_t outer =
      elementCount({call.result.shape.begin(), call.result.shape.begin() + static_cast<int64_t>(axis)});
  if (out.data.empty()) return out;
  std::byte* to = out.data.data();
  for (int64_t i = 0; i < outer; ++i)
    for (const Array* part : call.in) {
      size_t bytes = part->data.size() / static_cast<size_t>(outer);
      if (bytes > 0) std::memcpy(to, part->data.data() + static_cast<size_t>(i) * bytes, bytes);
      to += bytes;
    }
  return out;
}

Array runTakeRows(const Call& call) {
  const Array& table = *call.in[0];
  Array out = zeros(call.result);
  int64_t rows = table.type.shape[0];
  size_t bytes = table.data.size() / static_cast<size_t>(rows);
  std::vector<int64_t> ids = unpackIntegers(*call.in[1]);
  for (size_t i = 0; i < ids.size() && bytes > 0; ++i) {
    size_t row = static_cast<size_t>(std::clamp<int64_t>(ids[i], 0, rows - 1));
    std::memcpy(out.data.data() + i * bytes, table.data.data() + row * bytes, bytes);
  }
  return out;
}

}  // namespace

Array runShape(const Call& call) {
  switch (call.node.op) {
    case Op::kIota:
      return runIota(call);
    case Op::kBroadcast:
      return runBroadcast(call);
    case Op::kReshape:
      return {call.result, call.in[0]->data};
    case Op::kTranspose:
      return permuted(*call.in[0], call.attrs<DimsAttrs>().dims);
    case Op::kSlice:
      return runSlice(call);
    case Op::kConcatenate:
      return runConcatenate(call);
    default:
      return runTakeRows(call);
  }
}

}  // namespace sublane::graph
