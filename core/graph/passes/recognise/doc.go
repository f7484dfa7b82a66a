// Package recognise has the passes that put one layer in the place of the parts that models spell it out in: attentions,
// normalisations, activations, rotary embeddings, products of inputs that are quantised as they come, parts of heads.
package recognise
