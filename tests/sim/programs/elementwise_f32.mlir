module @jit_elementwise attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x256xf32>, %arg1: tensor<64x256xf32>) -> (tensor<64x256xf32> {jax.result_info = "result[0]"}, tensor<64x256xf32> {jax.result_info = "result[1]"}, tensor<64x256xf32> {jax.result_info = "result[2]"}, tensor<64x256xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<64x256xf32>
    %1 = stablehlo.subtract %0, %arg0 : tensor<64x256xf32>
    %2 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %4 = stablehlo.multiply %arg1, %3 : tensor<64x256xf32>
    %5 = call @_where(%2, %arg0, %4) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %6 = stablehlo.abs %arg0 : tensor<64x256xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %8 = stablehlo.add %6, %7 : tensor<64x256xf32>
    %9 = stablehlo.maximum %arg0, %arg1 : tensor<64x256xf32>
    return %1, %5, %8, %9 : tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>
  }
  func.func private @_where(%arg0: tensor<64x256xi1>, %arg1: tensor<64x256xf32>, %arg2: tensor<64x256xf32>) -> tensor<64x256xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64x256xi1>, tensor<64x256xf32>
    return %0 : tensor<64x256xf32>
  }
}
