module @jit_permutations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x128xbf16>) -> (tensor<16x128xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %1 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %c = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %3 = stablehlo.multiply %1, %2 : tensor<128x128xi32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %5 = stablehlo.add %3, %4 : tensor<128x128xi32>
    %c_1 = stablehlo.constant dense<128> : tensor<i32>
    %6 = call @remainder(%5, %c_1) : (tensor<128x128xi32>, tensor<i32>) -> tensor<128x128xi32>
    %7 = stablehlo.compare EQ, %0, %6, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %8 = stablehlo.convert %7 : (tensor<128x128xi1>) -> tensor<128x128xbf16>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9:4 = stablehlo.while(%iterArg = %8, %iterArg_4 = %c_3, %iterArg_5 = %c_2, %iterArg_6 = %arg0) : tensor<128x128xbf16>, tensor<i32>, tensor<i32>, tensor<16x128xbf16>
    cond {
      %c_7 = stablehlo.constant dense<5001> : tensor<i32>
      %10 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %10:2 = func.call @closed_call(%iterArg, %iterArg_5, %iterArg_6) : (tensor<128x128xbf16>, tensor<i32>, tensor<16x128xbf16>) -> (tensor<i32>, tensor<16x128xbf16>)
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_4, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %11, %10#0, %10#1 : tensor<128x128xbf16>, tensor<i32>, tensor<i32>, tensor<16x128xbf16>
    }
    return %9#3 : tensor<16x128xbf16>
  }
  func.func private @remainder(%arg0: tensor<128x128xi32>, %arg1: tensor<i32>) -> tensor<128x128xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<128x128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<128x128xi1>, tensor<128x128xi1>) -> tensor<128x128xi1>
    %12 = stablehlo.and %11, %6 : tensor<128x128xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %14 = stablehlo.add %4, %13 : tensor<128x128xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<128x128xi1>, tensor<128x128xi32>
    return %15 : tensor<128x128xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<128x128xbf16>, %arg1: tensor<i32>, %arg2: tensor<16x128xbf16>) -> (tensor<i32>, tensor<16x128xbf16>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x128xbf16>, tensor<128x128xbf16>) -> tensor<16x128xf32>
    %2 = stablehlo.convert %1 : (tensor<16x128xf32>) -> tensor<16x128xbf16>
    return %0, %2 : tensor<i32>, tensor<16x128xbf16>
  }
}
