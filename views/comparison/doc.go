// Package comparison holds the screen of what one snapshot changes of another, and the marks that choose them.
package comparison
