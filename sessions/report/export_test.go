package report

// Declare adds a report to kinds until the test ends.
func Declare(cleanup func(func()), k Kind) {
	before := kinds
	kinds = append(kinds[:len(kinds):len(kinds)], k)
	cleanup(func() { kinds = before })
}
