module @jit_until attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xf32>, %arg1: tensor<8x128xf32>) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<8x128xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %arg1) : tensor<1xf32>, tensor<8x128xf32>, tensor<i32>, tensor<8x128xf32>
    cond {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%iterArg_2 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128xf32>, tensor<f32>) -> tensor<f32>
      %2 = stablehlo.reshape %iterArg : (tensor<1xf32>) -> tensor<f32>
      %3 = stablehlo.compare LT, %1, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %iterArg_1, %c_3 : tensor<i32>
      %2 = stablehlo.add %iterArg_2, %iterArg_0 : tensor<8x128xf32>
      stablehlo.return %iterArg, %iterArg_0, %1, %2 : tensor<1xf32>, tensor<8x128xf32>, tensor<i32>, tensor<8x128xf32>
    }
    return %0#2, %0#3 : tensor<i32>, tensor<8x128xf32>
  }
}
