module @"elementwise" {
  func.func public @main(
      %0: tensor<2x3xf32> {sublane.name = "x"} loc("x"),
      %1: tensor<2x3xf32> {sublane.name = "a \22quoted\22 name"} loc("a \22quoted\22 name")) -> (
      tensor<2x3xbf16> {sublane.name = "y"},
      tensor<bf16> {sublane.name = "tenth"},
      tensor<f32> {sublane.name = "low"},
      tensor<f32> {sublane.name = "large"},
      tensor<2xf32> {sublane.name = "top"},
      tensor<2xi32> {sublane.name = "token"}) {
    %2 = stablehlo.add %0, %1 : tensor<2x3xf32> loc("layer.0/mlp.up/add")
    %3 = stablehlo.exponential %2 : tensor<2x3xf32> loc("layer.0/mlp.up/exp")
    %4 = stablehlo.compare LE, %3, %0, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1> loc("layer.0/mlp.up/compare")
    %5 = stablehlo.select %4, %2, %3 : tensor<2x3xi1>, tensor<2x3xf32> loc("layer.0/mlp.down/select")
    %6 = stablehlo.convert %5 : (tensor<2x3xf32>) -> tensor<2x3xbf16> loc("layer.0/mlp.down/convert")
    %7 = stablehlo.constant dense<0.100097656> : tensor<bf16> loc("head/constant")
    %8 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc("head/constant")
    %9 = stablehlo.constant dense<1.0e+20> : tensor<f32> loc("head/constant")
    %10 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc("head/reduce_max")
    %11 = stablehlo.reduce(%5 init: %10) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32> loc("head/reduce_max")
    %12 = stablehlo.compare EQ, %5, %5, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1> loc("sample/arg_max")
    %13 = stablehlo.constant dense<0xFF800000> : tensor<2x3xf32> loc("sample/arg_max")
    %14 = stablehlo.select %12, %5, %13 : tensor<2x3xi1>, tensor<2x3xf32> loc("sample/arg_max")
    %15 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc("sample/arg_max")
    %16 = stablehlo.reduce(%14 init: %15) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32> loc("sample/arg_max")
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32> loc("sample/arg_max")
    %18 = stablehlo.compare EQ, %5, %17, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1> loc("sample/arg_max")
    %19 = stablehlo.iota dim = 1 : tensor<2x3xi32> loc("sample/arg_max")
    %20 = stablehlo.constant dense<3> : tensor<2x3xi32> loc("sample/arg_max")
    %21 = stablehlo.select %18, %19, %20 : tensor<2x3xi1>, tensor<2x3xi32> loc("sample/arg_max")
    %22 = stablehlo.constant dense<2147483647> : tensor<i32> loc("sample/arg_max")
    %23 = stablehlo.reduce(%21 init: %22) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32> loc("sample/arg_max")
    %24 = stablehlo.constant dense<3> : tensor<2xi32> loc("sample/arg_max")
    %25 = stablehlo.compare LT, %23, %24, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1> loc("sample/arg_max")
    %26 = stablehlo.constant dense<-1> : tensor<2xi32> loc("sample/arg_max")
    %27 = stablehlo.select %25, %23, %26 : tensor<2xi1>, tensor<2xi32> loc("sample/arg_max")
    return %6, %7, %8, %9, %11, %27 : tensor<2x3xbf16>, tensor<bf16>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xi32>
  }
}
