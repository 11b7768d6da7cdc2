module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x512xbf16>, %arg1: tensor<512x512xi8>, %arg2: tensor<512xbf16>) -> (tensor<8x512xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg1 : (tensor<512x512xi8>) -> tensor<512x512xbf16>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x512xbf16>, tensor<512x512xbf16>) -> tensor<8x512xbf16>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<512xbf16>) -> tensor<1x512xbf16>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x512xbf16>) -> tensor<8x512xbf16>
    %4 = stablehlo.multiply %1, %3 : tensor<8x512xbf16>
    return %4 : tensor<8x512xbf16>
  }
}
