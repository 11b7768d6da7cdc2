module @"shapes" {
  func.func public @main(
      %0: tensor<16x8xbf16> {sublane.name = "table"} loc("table"),
      %1: tensor<3xi32> {sublane.name = "ids"} loc("ids")) -> (
      tensor<2x16xbf16> {sublane.name = "y"},
      tensor<3x3xf32> {sublane.name = "z"}) {
    %2 = "stablehlo.gather"(%0, %1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>} : (tensor<16x8xbf16>, tensor<3xi32>) -> tensor<3x8xbf16> loc("embed/take_rows")
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x8xbf16>) -> tensor<8x3xbf16> loc("embed/transpose")
    %4 = stablehlo.slice %3 [0:4, 1:3] : (tensor<8x3xbf16>) -> tensor<4x2xbf16> loc("embed/slice")
    %5 = stablehlo.concatenate %4, %4, dim = 0 : (tensor<4x2xbf16>, tensor<4x2xbf16>) -> tensor<8x2xbf16> loc("embed/concatenate")
    %6 = stablehlo.reshape %5 : (tensor<8x2xbf16>) -> tensor<16xbf16> loc("embed/reshape")
    %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<16xbf16>) -> tensor<2x16xbf16> loc("embed/broadcast")
    %8 = stablehlo.dot_general %2, %0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x8xbf16>, tensor<16x8xbf16>) -> tensor<3x16xf32> loc("head/dot")
    %9 = stablehlo.dot_general %8, %8, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x3xf32> loc("head/dot")
    return %7, %9 : tensor<2x16xbf16>, tensor<3x3xf32>
  }
}
