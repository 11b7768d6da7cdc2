module @jit_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi32>, %arg1: tensor<8x256xf32>) -> (tensor<256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<1xi32>) -> tensor<i32>
    %1 = stablehlo.slice %arg1 [0:1, 0:256] : (tensor<8x256xf32>) -> tensor<1x256xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x256xf32>) -> tensor<256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:4 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %c, %iterArg_1 = %0, %iterArg_2 = %2) : tensor<8x256xf32>, tensor<i32>, tensor<i32>, tensor<256xf32>
    cond {
      %4 = stablehlo.compare LT, %iterArg_0, %iterArg_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_0, %c_3 : tensor<i32>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256xf32>
      %6 = stablehlo.multiply %iterArg_2, %5 : tensor<256xf32>
      %c_4 = stablehlo.constant dense<8> : tensor<i32>
      %7 = func.call @remainder(%iterArg_0, %c_4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %8 = stablehlo.convert %7 : tensor<i32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %9 = stablehlo.compare LT, %8, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %10 = stablehlo.add %8, %c_6 : tensor<i32>
      %11 = stablehlo.select %9, %10, %8 : tensor<i1>, tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %12 = stablehlo.compare LT, %c_7, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<256> : tensor<i32>
      %13 = stablehlo.add %c_9, %c_10 : tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.select %12, %13, %c_11 : tensor<i1>, tensor<i32>
      %15 = stablehlo.dynamic_slice %iterArg, %11, %14, sizes = [1, 256] : (tensor<8x256xf32>, tensor<i32>, tensor<i32>) -> tensor<1x256xf32>
      %16 = stablehlo.reshape %15 : (tensor<1x256xf32>) -> tensor<256xf32>
      %17 = stablehlo.add %6, %16 : tensor<256xf32>
      stablehlo.return %iterArg, %4, %iterArg_1, %17 : tensor<8x256xf32>, tensor<i32>, tensor<i32>, tensor<256xf32>
    }
    return %3#3 : tensor<256xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = call @_where(%0, %c_0, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
