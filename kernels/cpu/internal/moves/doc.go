// Package moves has what the CPU copies, with tactics: concatenations (tactics.go, concat_blocks.go), regions that transposing,
// slicing and padding copy (region.go), slices that indices name (gather_rows.go, tuples.go) and single elements (elements.go),
// taken or replaced, parts that are written over (tensor_scatter.go), changes between rows and blocks of channels (reformat.go),
// and resampling (resize.go, resize_sums.go).
package moves
