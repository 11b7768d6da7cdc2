module @jit_paged_reference attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xi32>, %arg1: tensor<3xi32>, %arg2: tensor<3x16x128xbf16>, %arg3: tensor<16x128x128xbf16>) -> (tensor<3x16x128xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<12xi32>) -> tensor<3x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %4 = stablehlo.add %0, %3 : tensor<3x4xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<3x4xi1>, tensor<3x4xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x4xi32>) -> tensor<3x4x1xi32>
    %7 = "stablehlo.gather"(%arg3, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 128, 128>}> : (tensor<16x128x128xbf16>, tensor<3x4x1xi32>) -> tensor<3x4x128x128xbf16>
    %8 = stablehlo.convert %7 : (tensor<3x4x128x128xbf16>) -> tensor<3x4x128x128xf32>
    %9 = stablehlo.iota dim = 0 : tensor<4xi32>
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<4xi32>) -> tensor<1x4xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x4xi32>) -> tensor<3x4xi32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<3x1xi32>) -> tensor<3x4xi32>
    %14 = stablehlo.compare LT, %12, %13, SIGNED : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<3x4xi1>) -> tensor<3x4x1x1xi1>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %16 = call @_where(%15, %8, %c_1) : (tensor<3x4x1x1xi1>, tensor<3x4x128x128xf32>, tensor<i32>) -> tensor<3x4x128x128xf32>
    %17 = stablehlo.convert %arg2 : (tensor<3x16x128xbf16>) -> tensor<3x16x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x4x128x128xf32>, tensor<f32>) -> tensor<3x128x128xf32>
    %19 = stablehlo.dot_general %17, %18, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<3x16x128xf32>, tensor<3x128x128xf32>) -> tensor<3x16x128xf32>
    return %19 : tensor<3x16x128xf32>
  }
  func.func private @_where(%arg0: tensor<3x4x1x1xi1>, %arg1: tensor<3x4x128x128xf32>, %arg2: tensor<i32>) -> tensor<3x4x128x128xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<3x4x1x1xi1>) -> tensor<3x4x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x4x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<3x4x128x128xi1>, tensor<3x4x128x128xf32>
    return %3 : tensor<3x4x128x128xf32>
  }
}
