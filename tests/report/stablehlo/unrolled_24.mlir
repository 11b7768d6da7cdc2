module @jit_unrolled_24 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x512xbf16>, %arg1: tensor<24x512x512xbf16>) -> (tensor<256x512xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:1, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %3 = stablehlo.tanh %2 : tensor<256x512xbf16>
    %4 = stablehlo.slice %arg1 [1:2, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %5 = stablehlo.reshape %4 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %6 = stablehlo.dot_general %3, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %7 = stablehlo.tanh %6 : tensor<256x512xbf16>
    %8 = stablehlo.slice %arg1 [2:3, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %9 = stablehlo.reshape %8 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %10 = stablehlo.dot_general %7, %9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %11 = stablehlo.tanh %10 : tensor<256x512xbf16>
    %12 = stablehlo.slice %arg1 [3:4, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %13 = stablehlo.reshape %12 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %14 = stablehlo.dot_general %11, %13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %15 = stablehlo.tanh %14 : tensor<256x512xbf16>
    %16 = stablehlo.slice %arg1 [4:5, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %17 = stablehlo.reshape %16 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %18 = stablehlo.dot_general %15, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %19 = stablehlo.tanh %18 : tensor<256x512xbf16>
    %20 = stablehlo.slice %arg1 [5:6, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %21 = stablehlo.reshape %20 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %22 = stablehlo.dot_general %19, %21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %23 = stablehlo.tanh %22 : tensor<256x512xbf16>
    %24 = stablehlo.slice %arg1 [6:7, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %25 = stablehlo.reshape %24 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %26 = stablehlo.dot_general %23, %25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %27 = stablehlo.tanh %26 : tensor<256x512xbf16>
    %28 = stablehlo.slice %arg1 [7:8, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %29 = stablehlo.reshape %28 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %30 = stablehlo.dot_general %27, %29, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %31 = stablehlo.tanh %30 : tensor<256x512xbf16>
    %32 = stablehlo.slice %arg1 [8:9, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %33 = stablehlo.reshape %32 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %34 = stablehlo.dot_general %31, %33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %35 = stablehlo.tanh %34 : tensor<256x512xbf16>
    %36 = stablehlo.slice %arg1 [9:10, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %37 = stablehlo.reshape %36 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %38 = stablehlo.dot_general %35, %37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %39 = stablehlo.tanh %38 : tensor<256x512xbf16>
    %40 = stablehlo.slice %arg1 [10:11, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %41 = stablehlo.reshape %40 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %42 = stablehlo.dot_general %39, %41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %43 = stablehlo.tanh %42 : tensor<256x512xbf16>
    %44 = stablehlo.slice %arg1 [11:12, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %45 = stablehlo.reshape %44 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %46 = stablehlo.dot_general %43, %45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %47 = stablehlo.tanh %46 : tensor<256x512xbf16>
    %48 = stablehlo.slice %arg1 [12:13, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %49 = stablehlo.reshape %48 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %50 = stablehlo.dot_general %47, %49, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %51 = stablehlo.tanh %50 : tensor<256x512xbf16>
    %52 = stablehlo.slice %arg1 [13:14, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %53 = stablehlo.reshape %52 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %54 = stablehlo.dot_general %51, %53, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %55 = stablehlo.tanh %54 : tensor<256x512xbf16>
    %56 = stablehlo.slice %arg1 [14:15, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %57 = stablehlo.reshape %56 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %58 = stablehlo.dot_general %55, %57, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %59 = stablehlo.tanh %58 : tensor<256x512xbf16>
    %60 = stablehlo.slice %arg1 [15:16, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %61 = stablehlo.reshape %60 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %62 = stablehlo.dot_general %59, %61, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %63 = stablehlo.tanh %62 : tensor<256x512xbf16>
    %64 = stablehlo.slice %arg1 [16:17, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %65 = stablehlo.reshape %64 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %66 = stablehlo.dot_general %63, %65, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %67 = stablehlo.tanh %66 : tensor<256x512xbf16>
    %68 = stablehlo.slice %arg1 [17:18, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %69 = stablehlo.reshape %68 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %70 = stablehlo.dot_general %67, %69, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %71 = stablehlo.tanh %70 : tensor<256x512xbf16>
    %72 = stablehlo.slice %arg1 [18:19, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %73 = stablehlo.reshape %72 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %74 = stablehlo.dot_general %71, %73, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %75 = stablehlo.tanh %74 : tensor<256x512xbf16>
    %76 = stablehlo.slice %arg1 [19:20, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %77 = stablehlo.reshape %76 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %78 = stablehlo.dot_general %75, %77, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %79 = stablehlo.tanh %78 : tensor<256x512xbf16>
    %80 = stablehlo.slice %arg1 [20:21, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %81 = stablehlo.reshape %80 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %82 = stablehlo.dot_general %79, %81, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %83 = stablehlo.tanh %82 : tensor<256x512xbf16>
    %84 = stablehlo.slice %arg1 [21:22, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %85 = stablehlo.reshape %84 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %86 = stablehlo.dot_general %83, %85, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %87 = stablehlo.tanh %86 : tensor<256x512xbf16>
    %88 = stablehlo.slice %arg1 [22:23, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %89 = stablehlo.reshape %88 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %90 = stablehlo.dot_general %87, %89, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %91 = stablehlo.tanh %90 : tensor<256x512xbf16>
    %92 = stablehlo.slice %arg1 [23:24, 0:512, 0:512] : (tensor<24x512x512xbf16>) -> tensor<1x512x512xbf16>
    %93 = stablehlo.reshape %92 : (tensor<1x512x512xbf16>) -> tensor<512x512xbf16>
    %94 = stablehlo.dot_general %91, %93, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %95 = stablehlo.tanh %94 : tensor<256x512xbf16>
    return %95 : tensor<256x512xbf16>
  }
}
