module @jit_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x256xi32>, %arg1: tensor<64x256xi32>) -> (tensor<64x256xi32> {jax.result_info = "result[0]"}, tensor<64x256xi32> {jax.result_info = "result[1]"}, tensor<64x256xi32> {jax.result_info = "result[2]"}, tensor<64x256xi32> {jax.result_info = "result[3]"}, tensor<64x256xi32> {jax.result_info = "result[4]"}, tensor<64x256xi32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<64x256xi32>
    %1 = stablehlo.subtract %0, %arg0 : tensor<64x256xi32>
    %2 = stablehlo.and %arg0, %arg1 : tensor<64x256xi32>
    %3 = stablehlo.xor %arg0, %arg1 : tensor<64x256xi32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x256xi32>
    %5 = stablehlo.shift_right_arithmetic %arg0, %4 : tensor<64x256xi32>
    %6 = stablehlo.maximum %arg0, %arg1 : tensor<64x256xi32>
    %7 = stablehlo.divide %arg0, %arg1 : tensor<64x256xi32>
    return %1, %2, %3, %5, %6, %7 : tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>
  }
}
