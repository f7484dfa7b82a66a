// Package moves has the kernels that bring elements from one place to another: copies along axes, transpositions and other
// formats, gathers and scatterings, concatenations; and what is known when a layer is bound, which is copied from constants.
// Resampling, which mixes what it gathers, is here too.
package moves
