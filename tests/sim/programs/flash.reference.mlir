module @jit_flash_reference attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x512x128xbf16>, %arg1: tensor<2x512x128xbf16>, %arg2: tensor<2x512x128xbf16>) -> (tensor<2x512x128xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x512x128xbf16>, tensor<2x512x128xbf16>) -> tensor<2x512x512xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<512x512xi1>
    %2 = call @tril(%1) : (tensor<512x512xi1>) -> tensor<512x512xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %3 = call @_where(%2, %0, %cst) : (tensor<512x512xi1>, tensor<2x512x512xf32>, tensor<f32>) -> tensor<2x512x512xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x512x512xf32>, tensor<f32>) -> tensor<2x512xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x512xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<2x512xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x512xf32>) -> tensor<2x512x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x512x1xf32>) -> tensor<2x512x512xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<2x512x512xf32>
    %10 = stablehlo.exponential %9 : tensor<2x512x512xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x512x512xf32>, tensor<f32>) -> tensor<2x512xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x512xf32>) -> tensor<2x512x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x512x1xf32>) -> tensor<2x512x512xf32>
    %14 = stablehlo.divide %10, %13 : tensor<2x512x512xf32>
    %15 = stablehlo.convert %arg2 : (tensor<2x512x128xbf16>) -> tensor<2x512x128xf32>
    %16 = stablehlo.dot_general %14, %15, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x512x512xf32>, tensor<2x512x128xf32>) -> tensor<2x512x128xf32>
    %17 = stablehlo.convert %16 : (tensor<2x512x128xf32>) -> tensor<2x512x128xbf16>
    return %17 : tensor<2x512x128xbf16>
  }
  func.func private @tril(%arg0: tensor<512x512xi1>) -> tensor<512x512xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<512x512xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x512xi32>
    %2 = stablehlo.add %0, %1 : tensor<512x512xi32>
    %3 = stablehlo.iota dim = 1 : tensor<512x512xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<512x512xi32>, tensor<512x512xi32>) -> tensor<512x512xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<512x512xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<512x512xi1>, tensor<512x512xi1>
    return %6 : tensor<512x512xi1>
  }
  func.func private @_where(%arg0: tensor<512x512xi1>, %arg1: tensor<2x512x512xf32>, %arg2: tensor<f32>) -> tensor<2x512x512xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<512x512xi1>) -> tensor<2x512x512xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x512x512xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x512x512xi1>, tensor<2x512x512xf32>
    return %3 : tensor<2x512x512xf32>
  }
}
