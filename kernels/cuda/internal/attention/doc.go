// Package attention computes softmax(q k^T) v in one kernel, tile by tile of keys, without the scores ever being in memory
// ("FlashAttention", Dao et al., 2022; "FlashAttention-2", Dao, 2023). A block has some rows of queries and goes through the
// keys that these see:
//
//	geometry.go  what a layer asks for: extents, and where the elements of its tensors lie
//	copy.go      rows of queries, keys and values to shared memory
//	block.go     which rows and keys a block has, and its loop over tiles of keys
//	tensor.go    products of a tile on tensor cores, simt.go the same of floats
//	scores.go    scale, cap, masks
//	softmax.go   the softmax while the largest score is not known yet
//	finish.go    outputs, or parts of them where several blocks share the keys; combine.go adds these up
//	cache.go     keys and values of the past, joined with the present ones
//
// Queries that share a head of keys (grouped queries) are rows of one tile, so that keys and values are read once for all.
package attention
