package report

import (
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Ablation is what each rewriting rule is worth: the engine without it, measured in the same rounds as the one with all of them
// (trtui bench --ablate).
type Ablation struct {
	Base      config.Config `output:"-"` // with all rules; the head has it
	Median    time.Duration // with all rules, of the first pair
	Estimated bool
	Rows      []AblationRow // what is worth most first; while it goes on, those that are measured
	Left      int           `json:",omitempty" output:"-"` // rules that are not measured yet
	Idle      []string      // rules that apply nowhere in this network
}

// AblationRow is one rule.
type AblationRow struct {
	Rule        string
	Doc         string
	Sites       int           // where it applies
	LayersSaved int           // by itself at these
	BytesSaved  int64         `output:"saved_bytes"`
	Without     time.Duration // median latency of the engine without it
	With        time.Duration // that of the engine with all rules, in the same rounds
	Worth       Speed         // how many times as fast the engine with all rules is
	Same        bool          `json:",omitempty"`                // the engine is the same without it, to the bit: another rule does its work
	Err         string        `json:",omitempty" output:"error"` // why there is no engine without it
}
