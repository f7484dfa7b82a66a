package match

import (
	"sync"

	"github.com/trtui/trtui/core/graph"
)

// Ops are the built-in ops, by name.
var Ops = sync.OnceValue(graph.Ops)
