module @"loop" {
  func.func public @main(
      %0: tensor<3xf32> {sublane.name = "x"} loc("x"),
      %1: tensor<3xf32> {sublane.name = "scale"} loc("scale"),
      %2: tensor<24x3xf32> {sublane.name = "stack"} loc("stack")) -> (
      tensor<3xf32> {sublane.name = "y"}) {
    %3 = stablehlo.constant dense<0> : tensor<i32> loc("layers/loop")
    %4:4 = "stablehlo.while"(%3, %0, %1, %2) ({
      ^bb0(%5: tensor<i32>, %6: tensor<3xf32>, %7: tensor<3xf32>, %8: tensor<24x3xf32>):
      %9 = stablehlo.constant dense<24> : tensor<i32> loc("layers/loop")
      %10 = stablehlo.compare LT, %5, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("layers/loop")
      stablehlo.return %10 : tensor<i1> loc("layers/loop")
    }, {
      ^bb0(%11: tensor<i32>, %12: tensor<3xf32>, %13: tensor<3xf32>, %14: tensor<24x3xf32>):
      %15 = stablehlo.constant dense<0> : tensor<i32> loc("layer.*/mlp.up/loop.slice")
      %16 = stablehlo.dynamic_slice %14, %11, %15, sizes = [1, 3] : (tensor<24x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32> loc("layer.*/mlp.up/loop.slice")
      %17 = stablehlo.reshape %16 : (tensor<1x3xf32>) -> tensor<3xf32> loc("layer.*/mlp.up/loop.slice")
      %18 = stablehlo.multiply %12, %13 : tensor<3xf32> loc("layer.*/mlp.up/multiply")
      %19 = stablehlo.add %18, %17 : tensor<3xf32> loc("layer.*/mlp.up/add")
      %20 = stablehlo.constant dense<1> : tensor<i32> loc("layers/loop")
      %21 = stablehlo.add %11, %20 : tensor<i32> loc("layers/loop")
      stablehlo.return %21, %19, %13, %14 : tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<24x3xf32> loc("layers/loop")
    }) : (tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<24x3xf32>) -> (tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<24x3xf32>) loc("layers/loop")
    return %4#1 : tensor<3xf32>
  }
}
