// Package match is what patterns ask of layers and tensors: the numbers that a constant holds, the element-wise program that
// a layer is, the shape that a Reshape must name, whether two layers compute the same. It looks at networks and changes none.
package match
