// Package numeric is numbers in memory: the types that elements of tensors have, what their bytes mean, and how one becomes
// another.
//
// A [Value] is a tensor with its elements, of a [DataType]; convert.go says what each type makes of another's numbers, float16.go
// and narrow.go what the bits of the short ones are. A [Range] is what quantised integers stand for, and quantise.go goes from
// them to real numbers and back. [Broadcast] finds the element that goes with another where shapes differ.
package numeric
