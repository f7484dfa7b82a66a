package cmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/host"
)

// peak runs a command line as [Main] does, and tells the most that the process has had in memory.
func peak(args []string) int {
	ctx, stop := host.WatchMemory(context.Background())
	defer stop()
	code := executeOn(ctx, quick, args, os.Stdout, os.Stderr)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return exitTold
	}
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println("peak", strings.Fields(text)[0])
	return code
}

// Whatever a command does, its process stays below --max-memory, or says what needed how much.
func TestMaxMemoryOfTheProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program a few times")
	}
	refused := 0
	for _, args := range [][]string{
		{"run", "--items", "64", "--batch", "64", "--backends", "cpu,eval"},
		append(few(t), "build", "--precision", "int8", "--rounding", "gptq", "-o", os.DevNull),
	} {
		for _, most := range []int64{48, 80, 192} {
			cmd := exec.Command(os.Args[0], append(args, "-q", "--timing-cache", "none", "--max-memory", fmt.Sprint(most, "MiB"))...)
			cmd.Env = append(os.Environ(), roleVar+"=peak")
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.Output()
			_, text, told := strings.Cut(string(out), "peak ")
			kib, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			switch code := cmd.ProcessState.ExitCode(); {
			case !told || code != 0 && code != exitFailure:
				t.Errorf("%v within %d MiB: %v\n%s", args, most, err, &errs)
			case code == 0 && kib > most<<10:
				t.Errorf("%v took %d MiB of %d", args, kib>>10, most)
			case code == exitFailure:
				if refused++; !strings.Contains(errs.String(), "limit") || !strings.Contains(errs.String(), "--max-memory") {
					t.Errorf("%v within %d MiB: %s", args, most, &errs)
				}
			}
			t.Logf("%v within %d MiB: exit code %d, %d MiB at most", args, most, cmd.ProcessState.ExitCode(), kib>>10)
		}
	}
	if refused == 0 {
		t.Error("nothing is refused")
	}
}
