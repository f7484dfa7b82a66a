package driver

import "strings"

// Warnings returns those lines of a compiler's log that tell of lost speed, such as C7508 (setmaxnreg ignored), and not
// its report of registers and memory.
func Warnings(info string) string {
	var found []string
	for line := range strings.Lines(info) {
		lower := strings.ToLower(line)
		for _, word := range []string{"warning", "performance loss", "(c75", "ignored"} {
			if strings.Contains(lower, word) {
				found = append(found, strings.Join(strings.Fields(line), " "))
				break
			}
		}
	}
	return strings.Join(found, "; ")
}
