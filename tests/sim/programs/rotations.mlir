module @jit_rotations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x256xi32>, %arg1: tensor<64x256xi32>) -> (tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>) {
    %l8 = stablehlo.constant dense<8> : tensor<64x256xi32>
    %r8 = stablehlo.constant dense<24> : tensor<64x256xi32>
    %a8 = stablehlo.shift_left %arg0, %l8 : tensor<64x256xi32>
    %b8 = stablehlo.shift_right_logical %arg0, %r8 : tensor<64x256xi32>
    %o8 = stablehlo.or %a8, %b8 : tensor<64x256xi32>
    %l16 = stablehlo.constant dense<16> : tensor<64x256xi32>
    %r16 = stablehlo.constant dense<16> : tensor<64x256xi32>
    %a16 = stablehlo.shift_left %arg0, %l16 : tensor<64x256xi32>
    %b16 = stablehlo.shift_right_logical %arg1, %r16 : tensor<64x256xi32>
    %o16 = stablehlo.or %a16, %b16 : tensor<64x256xi32>
    %l24 = stablehlo.constant dense<24> : tensor<64x256xi32>
    %r24 = stablehlo.constant dense<8> : tensor<64x256xi32>
    %a24 = stablehlo.shift_left %arg0, %l24 : tensor<64x256xi32>
    %b24 = stablehlo.shift_right_logical %arg0, %r24 : tensor<64x256xi32>
    %o24 = stablehlo.or %a24, %b24 : tensor<64x256xi32>
    %s = stablehlo.add %arg0, %arg1 : tensor<64x256xi32>
    %t = stablehlo.shift_left %arg1, %l16 : tensor<64x256xi32>
    %u = stablehlo.shift_right_logical %arg1, %r16 : tensor<64x256xi32>
    %v = stablehlo.or %t, %u : tensor<64x256xi32>
    %w = stablehlo.xor %v, %s : tensor<64x256xi32>
    return %o8, %o16, %o24, %w : tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>, tensor<64x256xi32>
  }
}
