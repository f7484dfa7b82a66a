// Package work is what the kernels of the CPU are made of: a pool of workers and the stream over it (pool.go, stream.go), a job
// whose units they share (job.go), activations as they lie in memory (tensor.go), the parts that work is cut into (parts.go),
// and the vector kernels that a processor has (vector.go).
package work
