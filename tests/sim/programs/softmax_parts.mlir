module @jit_softmax_parts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x1000xf32>) -> (tensor<64x1xf32> {jax.result_info = "result[0]"}, tensor<64x1xf32> {jax.result_info = "result[1]"}, tensor<64x1000xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x1000xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<64x1000xf32>
    %4 = stablehlo.exponential %3 : tensor<64x1000xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %7 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x1000xf32>
    %8 = stablehlo.subtract %arg0, %7 : tensor<64x1000xf32>
    %9 = stablehlo.exponential %8 : tensor<64x1000xf32>
    %10 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x1000xf32>
    %11 = stablehlo.divide %9, %10 : tensor<64x1000xf32>
    return %1, %6, %11 : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1000xf32>
  }
}
