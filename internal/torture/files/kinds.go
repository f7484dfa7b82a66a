//go:build linux

package files

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	"github.com/trtui/trtui/internal/torture/networks"
)

// kind is a kind of file that the program reads.
type kind struct {
	name, file string
	share      int
	// make returns a deformed file; the sound ones are those that the program wrote.
	make func(rnd *rand.Rand, sound map[string][]byte) []byte
	// commands are those that read FILE, of which one is run. OUT is a file that may be written, MODEL and other
	// words in capitals are sound files, see hunter.try.
	commands [][]string
}

var quietly = []string{"-q"}

func with(args ...string) []string { return append(args, quietly...) }

// kinds is the table of models and data, and of what the program itself writes; written.go has the others.
var kinds = []kind{
	{"model's bytes", "model.onnx", 4, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		return deformBytes(rnd, networks.Generate(rnd.Uint64N(1<<40)).Encode())
	}, modelCommands},
	{"model's meaning", "model.onnx", 8, func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformModel(rnd, someModel(rnd)) }, modelCommands},
	{"engine", "model.engine", 4, func(rnd *rand.Rand, sound map[string][]byte) []byte {
		return mend(deformBytes(rnd, sound["engine"]))
	}, engineCommands},
	{"engine's words", "model.engine", 4, func(rnd *rand.Rand, sound map[string][]byte) []byte {
		return mend(deformManifest(rnd, sound["engine"]))
	}, engineCommands},
	{"timing cache", "timing.jsonl", 2, func(rnd *rand.Rand, sound map[string][]byte) []byte {
		if rnd.IntN(2) == 0 {
			return deformBytes(rnd, sound["timing"])
		}
		return deformText(rnd, sound["timing"])
	}, [][]string{{"run", "MODEL", "-q", "--items", "1", "--timing-cache", "FILE"}, {"build", "MODEL", "-q", "-o", "OUT", "--timing-cache", "FILE"}}},
	{"configuration", "config.json", 3, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		if rnd.IntN(3) == 0 {
			return deformBytes(rnd, []byte(configuration))
		}
		return deformText(rnd, []byte(configuration))
	}, [][]string{with("run", "MODEL", "--items", "1", "--config", "FILE"), with("inspect", "passes", "MODEL", "--config", "FILE")}},
	{"recording", "some.trtui", 3, func(rnd *rand.Rand, sound map[string][]byte) []byte {
		return deformBytes(rnd, sound["recording.trtui"])
	}, [][]string{{"inspect", "recording", "FILE"}, {"replay", "FILE"}, {"inspect", "recording", "FILE", "--format", "json"}}},
	{"npy", "data.npy", 2, func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformNpy(rnd) }, dataCommands},
	{"npz", "data.npz", 2, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		if rnd.IntN(2) == 0 {
			return npzFile(map[string][]byte{"x.npy": deformNpy(rnd), "y.npy": deformNpy(rnd)})
		}
		return deformBytes(rnd, npzFile(map[string][]byte{"x.npy": npyFile("<f4", "(2, 1, 32, 32)", pixels(8)), "y.npy": npyFile("|u1", "(2,)", []byte{1, 2})}))
	}, dataCommands},
	{"idx", "data-idx3-ubyte", 2, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		return deformBytes(rnd, idxFile(8, []int{2, side, side}, pixels(2)))
	}, dataCommands},
	{"idx, packed", "data-idx3-ubyte.gz", 2, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		if rnd.IntN(2) == 0 {
			return gzipped(deformBytes(rnd, idxFile(8, []int{2, side, side}, pixels(2))))
		}
		return deformBytes(rnd, gzipped(idxFile(8, []int{2, side, side}, pixels(2))))
	}, dataCommands},
	{"image", "images/picture.png", 1, func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformBytes(rnd, picture("png")) }, imageCommands},
	{"photograph", "images/picture.jpg", 1, func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformBytes(rnd, picture("jpg")) }, imageCommands},
	{"labels", "labels.idx", 1, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		return deformBytes(rnd, idxFile(8, []int{2}, []byte{1, 2}))
	}, [][]string{with("run", "--items", "2", "--data", "IDX", "--labels", "FILE")}},
}

var modelCommands = [][]string{
	with("inspect", "model", "FILE"), with("inspect", "passes", "FILE"), with("run", "FILE", "--items", "1", "--backends", "cpu,eval"),
	with("run", "FILE", "--items", "1", "--precision", "int8"), with("build", "FILE", "-o", "OUT", "--precision", "fp16"),
	with("inspect", "model", "FILE", "--format", "json"), with("run", "FILE", "--items", "2", "--batch", "3"),
}

var engineCommands = [][]string{with("run", "FILE", "--items", "1"), with("inspect", "engine", "FILE"), with("inspect", "memory", "FILE"), with("build", "FILE", "-o", "OUT")}

var dataCommands = [][]string{with("run", "--data", "FILE", "--items", "2"), with("calibrate", "--calib-data", "FILE"), with("run", "--data", "FILE", "--labels", "FILE")}

var imageCommands = [][]string{with("run", "--data", "FOLDER", "--items", "1")}

const configuration = `{"version": 1, "precision": "int8", "calibrator": "percentile:99.9", "batch": 1, "shapes": {"x": [1, 3, 8, 8]},
 "disable": ["fuse-epilogue"], "passes_until": 30, "layer_precisions": ["*Conv*:fp32"], "precision_constraints": "prefer",
 "tactics": {"conv1": "eval"}, "forbid_tactics": {"*": ["eval"], "conv1": ["x"]}}`

// mend makes the checksums of an engine file fit its bytes, as far as its table makes sense.
func mend(data []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	if len(data) < 64 {
		return data
	}
	count := int(binary.LittleEndian.Uint32(data[12:]))
	if count > 16 || len(data) < 64+24*count {
		return data
	}
	for i := range count {
		entry := data[64+24*i:]
		at, n := binary.LittleEndian.Uint64(entry[8:]), binary.LittleEndian.Uint64(entry[16:])
		if at > uint64(len(data)) || n > uint64(len(data))-at {
			return data
		}
		binary.LittleEndian.PutUint32(entry[4:], crc32.Checksum(data[at:at+n], table))
	}
	clear(data[16:20])
	binary.LittleEndian.PutUint32(data[16:], crc32.Checksum(data[:64+24*count], table))
	return data
}

// deformManifest changes words of an engine's manifest, keeping its length.
func deformManifest(rnd *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	places := word.FindAllIndex(data, -1)
	for range 1 + rnd.IntN(3) {
		p := places[rnd.IntN(len(places))]
		old := data[p[0]:p[1]]
		if c := old[0]; c >= '0' && c <= '9' || c == '-' {
			for i := range old {
				old[i] = "0123456789"[rnd.IntN(10)]
			}
			continue
		}
		q := places[rnd.IntN(len(places))]
		if len(old) == q[1]-q[0] { // the words of another place
			copy(old, data[q[0]:q[1]])
		}
	}
	return data
}
