// Package bringup finds out what a device is and what it reaches: the cost of launches, graphs and events, bandwidth, peak
// rates, and what its driver makes of the kernels. It measures through the backend of package cuda, on a GPU or simulated.
package bringup
