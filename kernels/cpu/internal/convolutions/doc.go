// Package convolutions has the convolutions of the CPU and their tactics. An ordinary one is direct (direct_f32.go,
// direct_int8.go; plan_f32.go and pack_int8.go say how it is cut up and its weights are laid out) or depthwise
// (depthwise_f32.go, depthwise_int8.go); one whose sums themselves are the result is a product of rows (integer.go). A transposed
// one is a sum of ordinary ones by sub-pixel decomposition (transposed.go; subpixel_f32.go, subpixel_int8.go,
// transposed_depthwise_f32.go) or a product whose columns are summed up (columns_f32.go). A matrix product in blocks of channels
// is a pointwise convolution (product.go).
package convolutions
