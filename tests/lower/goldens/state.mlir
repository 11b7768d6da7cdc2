module @"state" {
  func.func public @main(
      %0: tensor<1x4x8xf32> {sublane.name = "q"} loc("q"),
      %1: tensor<1x2x8xf32> {sublane.name = "rows"} loc("rows"),
      %2: tensor<1xi32> {sublane.name = "slots"} loc("slots"),
      %3: tensor<1x2xi32> {sublane.name = "page_table"} loc("page_table"),
      %4: tensor<1xi32> {sublane.name = "lengths"} loc("lengths"),
      %5: tensor<1xi32> {sublane.name = "positions"} loc("positions"),
      %6: tensor<1xi32> {sublane.name = "token_sequence"} loc("token_sequence"),
      %7: tensor<1xi32> {sublane.name = "token_column"} loc("token_column"),
      %8: tensor<1x1xi32> {sublane.name = "query_token"} loc("query_token"),
      %9: tensor<i32> {sublane.name = "window"} loc("window"),
      %10: tensor<6x4x2x8xf32> {sublane.name = "cache.k.0", tf.aliasing_output = 1 : i32, mhlo.layout_mode = "{3, 2, 1, 0}"} loc("cache.k.0")) -> (
      tensor<1x4x8xf32> {sublane.name = "y"},
      tensor<6x4x2x8xf32> {sublane.name = "cache.k.0", mhlo.layout_mode = "{3, 2, 1, 0}"}) {
    %11 = stablehlo.constant dense<4> : tensor<1xi32> loc("layer.0/attention.cache/cache_write")
    %12 = stablehlo.divide %2, %11 : tensor<1xi32> loc("layer.0/attention.cache/cache_write")
    %13 = stablehlo.reshape %12 : (tensor<1xi32>) -> tensor<1x1xi32> loc("layer.0/attention.cache/cache_write")
    %14 = stablehlo.constant dense<4> : tensor<1xi32> loc("layer.0/attention.cache/cache_write")
    %15 = stablehlo.remainder %2, %14 : tensor<1xi32> loc("layer.0/attention.cache/cache_write")
    %16 = stablehlo.reshape %15 : (tensor<1xi32>) -> tensor<1x1xi32> loc("layer.0/attention.cache/cache_write")
    %17 = stablehlo.concatenate %13, %16, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32> loc("layer.0/attention.cache/cache_write")
    %18 = "stablehlo.scatter"(%10, %17, %1) ({
    ^bb0(%19: tensor<f32>, %20: tensor<f32>):
      stablehlo.return %20 : tensor<f32> loc("layer.0/attention.cache/cache_write")
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<6x4x2x8xf32>, tensor<1x2xi32>, tensor<1x2x8xf32>) -> tensor<6x4x2x8xf32> loc("layer.0/attention.cache/cache_write")
    %21 = "stablehlo.gather"(%18, %3) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 3, 4], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4, 2, 8>} : (tensor<6x4x2x8xf32>, tensor<1x2xi32>) -> tensor<1x2x4x2x8xf32> loc("layer.0/attention.core/paged_attention.keys")
    %22 = stablehlo.reshape %21 : (tensor<1x2x4x2x8xf32>) -> tensor<1x8x2x8xf32> loc("layer.0/attention.core/paged_attention.keys")
    %23 = "stablehlo.gather"(%18, %3) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 3, 4], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4, 2, 8>} : (tensor<6x4x2x8xf32>, tensor<1x2xi32>) -> tensor<1x2x4x2x8xf32> loc("layer.0/attention.core/paged_attention.values")
    %24 = stablehlo.reshape %23 : (tensor<1x2x4x2x8xf32>) -> tensor<1x8x2x8xf32> loc("layer.0/attention.core/paged_attention.values")
    %25 = stablehlo.iota dim = 1 : tensor<1x8xi32> loc("layer.0/attention.core/paged_attention.values")
    %26 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<1xi32>) -> tensor<1x8xi32> loc("layer.0/attention.core/paged_attention.values")
    %27 = stablehlo.compare LT, %25, %26, SIGNED : (tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi1> loc("layer.0/attention.core/paged_attention.values")
    %28 = stablehlo.constant dense<0.0> : tensor<1x8x2x8xf32> loc("layer.0/attention.core/paged_attention.values")
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x8xi1>) -> tensor<1x8x2x8xi1> loc("layer.0/attention.core/paged_attention.values")
    %30 = stablehlo.select %29, %24, %28 : tensor<1x8x2x8xi1>, tensor<1x8x2x8xf32> loc("layer.0/attention.core/paged_attention.values")
    %31 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32> loc("layer.0/attention.core/paged_attention.queries")
    %32 = stablehlo.reshape %31 : (tensor<1x1x4x8xf32>) -> tensor<1x1x2x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %33 = stablehlo.dot_general %22, %32, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [HIGHEST, HIGHEST] : (tensor<1x8x2x8xf32>, tensor<1x1x2x2x8xf32>) -> tensor<1x2x8x1x2xf32> loc("layer.0/attention.core/paged_attention.scores")
    %34 = stablehlo.transpose %33, dims = [0, 1, 3, 4, 2] : (tensor<1x2x8x1x2xf32>) -> tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %35 = stablehlo.constant dense<0.5> : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %36 = stablehlo.multiply %34, %35 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %37 = stablehlo.constant dense<30.0> : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %38 = stablehlo.divide %36, %37 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %39 = stablehlo.tanh %38 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %40 = stablehlo.constant dense<30.0> : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %41 = stablehlo.multiply %39, %40 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.scores")
    %42 = stablehlo.iota dim = 2 : tensor<1x1x8xi32> loc("layer.0/attention.core/paged_attention.mask")
    %43 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<1xi32>) -> tensor<1x1x8xi32> loc("layer.0/attention.core/paged_attention.mask")
    %44 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<1x1xi32> loc("layer.0/attention.core/paged_attention.mask")
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<1x1x8xi32> loc("layer.0/attention.core/paged_attention.mask")
    %46 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i32>) -> tensor<1x1x8xi32> loc("layer.0/attention.core/paged_attention.mask")
    %47 = stablehlo.compare LT, %42, %43, SIGNED : (tensor<1x1x8xi32>, tensor<1x1x8xi32>) -> tensor<1x1x8xi1> loc("layer.0/attention.core/paged_attention.mask")
    %48 = stablehlo.compare LE, %42, %45, SIGNED : (tensor<1x1x8xi32>, tensor<1x1x8xi32>) -> tensor<1x1x8xi1> loc("layer.0/attention.core/paged_attention.mask")
    %49 = stablehlo.subtract %45, %42 : tensor<1x1x8xi32> loc("layer.0/attention.core/paged_attention.mask")
    %50 = stablehlo.compare LT, %49, %46, SIGNED : (tensor<1x1x8xi32>, tensor<1x1x8xi32>) -> tensor<1x1x8xi1> loc("layer.0/attention.core/paged_attention.mask")
    %51 = stablehlo.and %47, %48 : tensor<1x1x8xi1> loc("layer.0/attention.core/paged_attention.mask")
    %52 = stablehlo.and %51, %50 : tensor<1x1x8xi1> loc("layer.0/attention.core/paged_attention.mask")
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 2, 4] : (tensor<1x1x8xi1>) -> tensor<1x2x1x2x8xi1> loc("layer.0/attention.core/paged_attention.mask")
    %54 = stablehlo.constant dense<0xFF800000> : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %55 = stablehlo.select %53, %41, %54 : tensor<1x2x1x2x8xi1>, tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %56 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc("layer.0/attention.core/paged_attention.softmax")
    %57 = stablehlo.reduce(%55 init: %56) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x1x2x8xf32>, tensor<f32>) -> tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %58 = stablehlo.constant dense<0xFF800000> : tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %59 = stablehlo.compare EQ, %57, %58, FLOAT : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xi1> loc("layer.0/attention.core/paged_attention.softmax")
    %60 = stablehlo.constant dense<0.0> : tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %61 = stablehlo.select %59, %60, %57 : tensor<1x2x1x2xi1>, tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2, 3] : (tensor<1x2x1x2xf32>) -> tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %63 = stablehlo.subtract %41, %62 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %64 = stablehlo.exponential %63 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %65 = stablehlo.constant dense<0.0> : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %66 = stablehlo.select %53, %64, %65 : tensor<1x2x1x2x8xi1>, tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %67 = stablehlo.constant dense<0.0> : tensor<f32> loc("layer.0/attention.core/paged_attention.softmax")
    %68 = stablehlo.reduce(%66 init: %67) applies stablehlo.add across dimensions = [4] : (tensor<1x2x1x2x8xf32>, tensor<f32>) -> tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %69 = stablehlo.constant dense<1.0> : tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %70 = stablehlo.select %59, %69, %68 : tensor<1x2x1x2xi1>, tensor<1x2x1x2xf32> loc("layer.0/attention.core/paged_attention.softmax")
    %71 = stablehlo.dot_general %66, %30, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [HIGHEST, HIGHEST] : (tensor<1x2x1x2x8xf32>, tensor<1x8x2x8xf32>) -> tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.mix")
    %72 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2, 3] : (tensor<1x2x1x2xf32>) -> tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.mix")
    %73 = stablehlo.divide %71, %72 : tensor<1x2x1x2x8xf32> loc("layer.0/attention.core/paged_attention.mix")
    %74 = stablehlo.transpose %73, dims = [0, 2, 1, 3, 4] : (tensor<1x2x1x2x8xf32>) -> tensor<1x1x2x2x8xf32> loc("layer.0/attention.core/paged_attention.mix")
    %75 = stablehlo.reshape %74 : (tensor<1x1x2x2x8xf32>) -> tensor<1x4x8xf32> loc("layer.0/attention.core/paged_attention.tokens")
    %76 = stablehlo.constant dense<0> : tensor<1xi32> loc("layer.0/attention.core/paged_attention.tokens")
    %77 = stablehlo.compare GE, %6, %76, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %78 = stablehlo.constant dense<1> : tensor<1xi32> loc("layer.0/attention.core/paged_attention.tokens")
    %79 = stablehlo.compare LT, %6, %78, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %80 = stablehlo.and %77, %79 : tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %81 = stablehlo.constant dense<0> : tensor<1xi32> loc("layer.0/attention.core/paged_attention.tokens")
    %82 = stablehlo.compare GE, %7, %81, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %83 = stablehlo.constant dense<1> : tensor<1xi32> loc("layer.0/attention.core/paged_attention.tokens")
    %84 = stablehlo.compare LT, %7, %83, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %85 = stablehlo.and %82, %84 : tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %86 = stablehlo.and %80, %85 : tensor<1xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %87 = stablehlo.constant dense<0.0> : tensor<1x4x8xf32> loc("layer.0/attention.core/paged_attention.tokens")
    %88 = stablehlo.broadcast_in_dim %86, dims = [0] : (tensor<1xi1>) -> tensor<1x4x8xi1> loc("layer.0/attention.core/paged_attention.tokens")
    %89 = stablehlo.select %88, %75, %87 : tensor<1x4x8xi1>, tensor<1x4x8xf32> loc("layer.0/attention.core/paged_attention.tokens")
    return %89, %18 : tensor<1x4x8xf32>, tensor<6x4x2x8xf32>
  }
}
