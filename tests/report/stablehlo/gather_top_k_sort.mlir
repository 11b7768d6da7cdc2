module @jit_gather_top_k_sort attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32000x256xbf16>, %arg1: tensor<64xi32>, %arg2: tensor<64x4096xf32>) -> (tensor<64x256xbf16> {jax.result_info = "result[0]"}, tensor<64x16xf32> {jax.result_info = "result[1]"}, tensor<64x16xi32> {jax.result_info = "result[2]"}, tensor<64x4096xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_0 = stablehlo.constant dense<32000> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<64xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<64xi1>, tensor<64xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<32000x256xbf16>, tensor<64x1xi32>) -> tensor<64x256xbf16>
    %values, %indices = chlo.top_k(%arg2, k = 16) : tensor<64x4096xf32> -> (tensor<64x16xf32>, tensor<64x16xi32>)
    %7 = call @sort(%arg2) : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
    return %6, %values, %indices, %7 : tensor<64x256xbf16>, tensor<64x16xf32>, tensor<64x16xi32>, tensor<64x4096xf32>
  }
  func.func private @sort(%arg0: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
    return %0 : tensor<64x4096xf32>
  }
}
