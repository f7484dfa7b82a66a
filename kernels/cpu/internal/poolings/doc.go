// Package poolings has the poolings of the CPU: maxima and averages of windows and of all pixels, in float32 (pool_f32.go) and
// bytes (pool_int8.go, global_int8.go), and their tactics (tactics.go, tactics_int8.go).
package poolings
