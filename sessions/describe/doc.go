// Package describe tells, as reports, what models, networks, plans and devices are and how long inferences took. It makes nothing
// and measures nothing: each of its functions is about what it is given.
package describe
