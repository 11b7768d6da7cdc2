module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x64xbf16>, %arg1: tensor<384x512xbf16>) -> (tensor<64x384xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x64xbf16>, tensor<384x512xbf16>) -> tensor<64x384xf32>
    return %0 : tensor<64x384xf32>
  }
}
