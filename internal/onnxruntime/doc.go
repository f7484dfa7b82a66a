// Package onnxruntime runs models with ONNX Runtime, in a child process of a Python that has it: as a backend to compare with, and
// as the oracle of the hunts. It imports what values are, and nothing else of ours. Start with runtime.go; what the child does is
// in runtime.py.
package onnxruntime
