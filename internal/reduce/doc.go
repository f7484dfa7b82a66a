// Package reduce makes a model small on which something is wrong: it leaves out nodes from both ends and from the middle,
// makes axes short, and values and attributes plain, as long as the same thing stays wrong, which is for its caller to say.
// Nothing here knows what an operator means, but for the values that go where a node was.
//
// Start with [Search]. What it works on is a [Model], ONNX as data; [Read] makes one of a file.
package reduce
