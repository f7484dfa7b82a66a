// Package products has the kernels of convolutions and matrix products, and of poolings, whose windows are convolutions'. What
// a layer comes to is a product (product.go): a matrix of output pixels times output channels.
//
// Large ones are computed on tiles (tile.go, implicit.go): copies run ahead in a ring (ring.go, taps.go), an engine multiplies
// (engine.go), blocks may share a sum (split.go), and finish.go writes the outputs. The others go without tiles: direct.go and
// what is built on it, one thread for a few outputs; multiply.go for matrices of any kind.
package products
