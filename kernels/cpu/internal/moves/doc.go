// Package moves has what the CPU copies, with tactics: concatenations and splits (rows.go, tactics.go, split.go, concat_blocks.go),
// regions that transposing, slicing and padding copy (region.go), slices that indices name (gather_rows.go, tuples.go) and single
// elements (elements.go), taken or replaced, parts that are written over (tensor_scatter.go), triangles (trilu.go), what is known
// beforehand (known.go), changes between rows and blocks of channels (reformat.go), resampling: on another grid (resize.go,
// resize_sums.go), at places that are inputs (samples.go and sample_*.go), and what undoes windows (unpool.go, blocks.go).
package moves
