// Package tactics holds the screen of every candidate of every layer, and of the timing cache.
package tactics
