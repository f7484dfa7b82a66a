// Package passes is the tables of all passes: first those that hold for every precision ([Standard]), then, on a network
// with Quantize and Dequantize layers, those that make layers of them that compute with integers ([Lowering]).
//
// table.go lists the passes and says which must come before which; [Run] checks that. Each pass is one file, with the picture
// of what it rewrites as its comment, in the package of its kind: what does nothing, or less, goes (simplify); one layer stands
// for the parts that a model spells out (recognise); layers become parts of others (fuse); numbers of few bits (quantise).
// The tests of all of them are here, where each runs by itself and all run on random networks.
package passes
