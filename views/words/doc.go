// Package words holds how panes write values and names: shares, ratios, differences, layers, models. It knows no pane.
package words
