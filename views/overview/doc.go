// Package overview holds the screen that sums the engine up, and the same as text for where there is no terminal.
package overview
