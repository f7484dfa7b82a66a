// Package pointwise has the tactics of element-wise layers on the CPU: programs, with changes of type and of quantisation
// (pointwise.go), of integers (integers.go), comparisons of integers that float32 decides alike (comparison.go), and casts by the
// element (cast.go).
package pointwise
