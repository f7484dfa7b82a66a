// Package trials holds the configurations that were tried: their table, their Pareto front, and how two compare in words.
package trials
