// Package timings holds the screen of the time of every layer, its samples, how a language model writes, and how far it is from the roofline.
package timings
