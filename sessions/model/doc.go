// Package model opens what a session works on: an ONNX model, an engine file, rules from files. It says what a model takes and
// what it was made of: its inputs' shapes, symbols and batches, the names that a configuration may use, what an engine file tells
// of its making. Start with model.go.
package model
