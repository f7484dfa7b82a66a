// Package fuse has the passes that make layers part of others, so that fewer are launched and less is moved: constants
// go into weights, element-wise layers into epilogues or into one program, products of one input into one product.
package fuse
