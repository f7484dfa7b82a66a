// Package products has the matrix products of the CPU: with a matrix that is packed once, in float32 (gemm_f32.go) and bytes
// (gemm_int8.go), of rows that become bytes on the way (dynamic.go), and of two activations (matmul.go); and their tactics (tactics.go, tactics_int8.go).
package products
