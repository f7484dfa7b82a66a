package report

// LayerCause tells what a layer's own error is made of, and what the layer adds to that of the network. Shares are of the power of
// the own error, the layer being given what FP32 has as the engine stores it.
type LayerCause struct {
	// Adds is the SQNR that would be left were all other layers exact: its weights are rounded, and so is its output as the layer
	// behind it reads it, its bias as it is without them, where a channel counts by the weights that it meets.
	Adds      float64 `unit:"db" exact:"adds_exact"`
	AddsAt    string  `json:",omitempty"` // the layer behind it whose output shows that most; empty: it shows at its own
	Inputs    float64 `unit:"share"`      // what its inputs lost as they were stored
	Computing float64 `unit:"share"`      // the rest: rounding of weights, where there are some, and of what the kernel computes
	Corrected float64 `unit:"share"`      // what a corrected bias moves, to take back what the layers before it lose
	Output    float64 `unit:"share"`      // storing the output
	Stored    string  // the output's type
	// Clipped is the share of what storing the output loses that is of elements beyond its range; the rest is rounding. 0 where
	// nothing is lost.
	Clipped float64       `unit:"share"`
	Reach   *ChannelReach `json:",omitempty"` // of an output that is stored in 8 bits
}

// ChannelReach is how far the channels of a tensor reach, of which all have one range.
type ChannelReach struct {
	Channels int
	Group    int       // channels that an entry of Low and High has
	Low      []float32 // the least value of each, or zero
	High     []float32
	Amax     float32 // the largest magnitude
	Scale    float32 // of the integers; 0: it has none
	Outliers []int   `json:",omitempty"` // channels that reach so much further than all others that these lose a bit or more, the furthest first
	Rest     float32 // the largest magnitude of the other channels
	Needed   float32 // the scale that they would have if only the other channels counted; 0: they have none
	Bits     float64 // between the two, which the other channels lose
	Cure     *Cure   `json:",omitempty"` // of outliers
}

// Cure says whether channels of a tensor can be equalised, and between which layers.
type Cure struct {
	Equalization string   `json:",omitempty"` // the way that helps: "weights" or "activations"; empty: none does
	With         []string `json:",omitempty"` // the layers that read the tensor and take the scales
	Gain         float64  `unit:"db"`         // by how much less those are then expected to be wrong; 0: not known
	Done         bool     `json:",omitempty"` // they are in this engine
	Why          string   `json:",omitempty"` // why they cannot be
	// Raise are the layers that read the tensor in 8 bits, where its channels cannot be equalised: raised to a float, they read it as a float.
	Raise []string `json:",omitempty"`
}
