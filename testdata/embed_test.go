package testdata

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/trtui/trtui/testdata/golden"
)

// References are worth something only for the model that they were computed from.
func TestGoldenBelongsToModel(t *testing.T) {
	sum := sha256.Sum256(Model())
	model := hex.EncodeToString(sum[:])
	reference, err := golden.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	accuracy, err := golden.LabelAccuracy()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"tensors.json": reference.Model, "accuracy.json": accuracy.Model} {
		if model != want {
			t.Errorf("golden/%s is for model %s, embedded is %s: run golden/make.py", file, want, model)
		}
	}
}

func TestModelSize(t *testing.T) {
	const limit = 1_500_000
	if n := len(Model()); n == 0 || n >= limit {
		t.Errorf("model has %d bytes, want 1 to %d", n, limit-1)
	}
}

func TestSplits(t *testing.T) {
	for _, split := range []struct {
		name     string
		images   *Images
		perClass int
		digest   string // of the labels and the pictures as bytes, without the margin
	}{
		{"test", TestImages(), 100, "3cf01f952c61a5f69b3770039a68308c2d9d7e2c908ea228c7f608bedc0e54ed"},
		{"calibration", CalibrationImages(), 30, "01a533efffcab6900c61e57a9bf0bd00f738eb91f54fedbbc103f7f993427c06"},
	} {
		t.Run(split.name, func(t *testing.T) {
			images := split.images
			if got, want := images.Len(), split.perClass*Classes; got != want {
				t.Fatalf("%d images, want %d", got, want)
			}
			if got, want := len(images.Pixels), images.Len()*Padded*Padded; got != want {
				t.Fatalf("%d pixels, want %d", got, want)
			}
			var histogram [Classes]int
			for _, label := range images.Labels {
				histogram[label]++
			}
			for digit, n := range histogram {
				if n != split.perClass {
					t.Errorf("%d images of digit %d, want %d", n, digit, split.perClass)
				}
			}
			if got := digest(t, images); got != split.digest {
				t.Errorf("digest %s, want %s", got, split.digest)
			}
		})
	}
}

// digest hashes pictures as train/digits.py stores them and fails on a margin that is not zero.
func digest(t *testing.T, images *Images) string {
	t.Helper()
	hash := sha256.New()
	const margin = (Padded - Side) / 2
	for i, label := range images.Labels {
		hash.Write([]byte{byte(label)})
		picture := images.Batch(i, i+1)
		for y := range Padded {
			for x := range Padded {
				value := picture[y*Padded+x]
				inside := y >= margin && y < Padded-margin && x >= margin && x < Padded-margin
				switch {
				case inside:
					hash.Write([]byte{byte(value*255 + 0.5)})
				case value != 0:
					t.Fatalf("image %d: pixel (%d,%d) of the margin is %g", i, y, x, value)
				}
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func TestSplitsAreDisjoint(t *testing.T) {
	seen := map[[sha256.Size]byte]string{}
	for _, split := range []struct {
		name   string
		images *Images
	}{{"test", TestImages()}, {"calibration", CalibrationImages()}} {
		for i := range split.images.Len() {
			raw := make([]byte, 0, Padded*Padded)
			for _, value := range split.images.Batch(i, i+1) {
				raw = append(raw, byte(value*255+0.5))
			}
			key := sha256.Sum256(raw)
			if other, ok := seen[key]; ok {
				t.Errorf("%s image %d is also in %s", split.name, i, other)
			}
			seen[key] = split.name
		}
	}
}

func TestGoldenTensors(t *testing.T) {
	reference, err := golden.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	labels := TestImages().Labels
	last := reference.Tensors[len(reference.Tensors)-1]
	if last.Name != "probabilities" || len(last.Values) != reference.Images*Classes {
		t.Fatalf("last tensor is %s with %d values, want the probabilities of %d images", last.Name, len(last.Values), reference.Images)
	}
	for i := range reference.Images {
		row, sum, best := last.Values[i*Classes:][:Classes], float32(0), 0
		for class, p := range row {
			sum += p
			if p > row[best] {
				best = class
			}
		}
		if sum < 0.9999 || sum > 1.0001 {
			t.Errorf("image %d: probabilities sum to %g", i, sum)
		}
		if best != labels[i] {
			t.Errorf("image %d: reference says %d, label %d", i, best, labels[i])
		}
	}
}
