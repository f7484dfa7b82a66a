package cpu

import (
	"sync"
	"testing"

	"github.com/trtui/trtui/internal/runtest"
)

// TestForks runs networks whose branches run side by side.
func TestForks(t *testing.T) {
	b := Open(3)
	defer b.Close()
	runtest.Forks(t, b, func() func() {
		s, err := b.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		held, release := make(chan bool), make(chan bool)
		var wg sync.WaitGroup
		wg.Go(func() {
			Loop(s)(2, func(i int) {
				if i == 0 {
					close(held)
				}
				<-release
			})
		})
		<-held
		return func() {
			close(release)
			wg.Wait()
		}
	})
}
