package report

import "time"

// Generation is a text that a language model wrote, and how long it took.
type Generation struct {
	Prompt, Text string // "" where tokens were given, and not text
	PromptTokens int
	Tokens       []int `output:"tokens"` // new ones
	Ended        string
	Cached       bool          // the model keeps what it computed of earlier tokens
	Scores       string        `json:",omitempty"` // the output that scores the next token, where others have as many axes
	First        time.Duration // from the prompt to the first token
	PerToken     Latency       // of those behind the first
	Rate         float64       `unit:"tokens_per_s"` // at the median of PerToken
	PromptRate   float64       `unit:"tokens_per_s"` // of the prompt's tokens up to the first new one
	Memory       *TokenMemory  `json:",omitempty"`   // of a model with state on a device whose memory was measured; nil for others
	Phases       []Phase       `json:",omitempty"`   // where layers were timed
	Refused      string        `json:",omitempty"`   // why the model cannot be asked for a text in this configuration
}

// Phase is one of the profiles that a language model runs in, and the time of its layers.
type Phase struct {
	Name    string // "prefill", "decode"; of a model without state the length that texts are filled up to
	Tokens  int    // that a run computes
	Latency Latency
	Layers  []LayerTiming
}

// TokenMemory is what one token takes of memory, beside what the machine reads at most: a text that is written alone reads all weights
// for each token.
type TokenMemory struct {
	Weights int64   `output:"weight_bytes"` // that a token reads
	State   int64   `output:"state_bytes"`  // of earlier keys and values that it reads
	Rate    float64 `unit:"bytes_per_s"`    // of both, in the median token
	Peak    float64 `unit:"bytes_per_s"`    // of reading what holds so much, the same peak that layers stand under; 0 where it is not known
	Level   string  // of memory that holds so much: "L3" or "DRAM"
}

// OfPeak is what share of the peak the tokens reach; 0 where that is not known.
func (m *TokenMemory) OfPeak() float64 {
	if m.Peak <= 0 {
		return 0
	}
	return m.Rate / m.Peak
}
