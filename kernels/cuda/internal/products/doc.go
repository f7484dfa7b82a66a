// Package products has the kernels of convolutions and matrix products, and of poolings, whose windows are convolutions'. What
// a layer comes to is a product (product.go): a matrix of output pixels times output channels.
//
// Large ones are computed on tiles (tile.go). A block of threads (block.go) is put together of a source, which copies operands
// to shared memory (pixels.go, weights.go, matrices.go), a ring of stages (ring.go), an engine that multiplies (tensor.go,
// simt.go), and what becomes of the sums (split.go, finish.go): implicit.go for convolutions and constant matrices, subpixel.go
// for transposed convolutions, batched.go for two activations, stem.go for first layers. The others go without tiles: direct.go
// and what is built on it, one thread for a few outputs; multiply.go for matrices of any kind.
package products
