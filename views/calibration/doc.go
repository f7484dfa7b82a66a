// Package calibration holds the screen of what calibration found: ranges by tensor, histograms, weights by channel.
package calibration
