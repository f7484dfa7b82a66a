// Package onnx imports ONNX models: a file's bytes become a [graph.Network] whose weights still lie in the file.
//
// [Open] maps a file into memory and imports it; start reading there. wire.go decodes the protobuf messages by hand,
// so that a weight is never copied and every length is checked before anything is allocated; import.go turns nodes
// into layers through the ops of a [graph.OpSet]; tensor.go reads and writes single tensors, the form in which ONNX's
// test data comes.
//
// Operator sets 1 to 28 of the default domain are understood; older.go makes nodes from before set 7 what they are since. Everything that a model needs and that is not
// supported is reported at once, by node name, in an [ImportError].
//
// Source: the ONNX specification, IR.md, Operators.md and onnx.proto, at https://onnx.ai.
package onnx
