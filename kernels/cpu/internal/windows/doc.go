// Package windows is what convolutions and poolings share: their geometry (shape.go), and copies of the input that a block of
// output rows reads, in which every tap of a window is at a constant offset and padding is stored (gather.go for float32,
// area.go for bytes). A field computes each channel block by itself from such a copy, as depthwise convolutions and poolings do
// (field_f32.go, field_int8.go).
package windows
