module @jit_transcendental attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x256xf32>, %arg1: tensor<64x256xf32>) -> (tensor<64x256xf32> {jax.result_info = "result[0]"}, tensor<64x256xf32> {jax.result_info = "result[1]"}, tensor<64x256xf32> {jax.result_info = "result[2]"}, tensor<64x256xf32> {jax.result_info = "result[3]"}, tensor<64x256xf32> {jax.result_info = "result[4]"}, tensor<64x256xf32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.exponential %arg0 : tensor<64x256xf32>
    %1 = stablehlo.abs %arg1 : tensor<64x256xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %3 = stablehlo.add %1, %2 : tensor<64x256xf32>
    %4 = stablehlo.log %3 : tensor<64x256xf32>
    %5 = stablehlo.tanh %arg0 : tensor<64x256xf32>
    %6 = stablehlo.abs %arg1 : tensor<64x256xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %8 = stablehlo.add %6, %7 : tensor<64x256xf32>
    %9 = stablehlo.rsqrt %8 : tensor<64x256xf32>
    %10 = stablehlo.negate %arg0 : tensor<64x256xf32>
    %11 = stablehlo.exponential %10 : tensor<64x256xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %13 = stablehlo.add %12, %11 : tensor<64x256xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %15 = stablehlo.divide %14, %13 : tensor<64x256xf32>
    %16 = stablehlo.sine %arg1 : tensor<64x256xf32>
    return %0, %4, %5, %9, %15, %16 : tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>
  }
}
