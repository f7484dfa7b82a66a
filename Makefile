# Everything a person does here. The plain go commands stand beside the targets in README.md.

GO ?= go
BIN := bin/trtui

# On Linux a program that can load libcuda starts by way of glibc's loader; where there is none (Alpine, NixOS) CUDA is
# left out and the program is static.
TAGS := $(shell for f in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do [ -e $$f ] && exit; done; echo -tags nocuda)

# The commit that trtui version names, and with it every result measured by the program.
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(shell git diff --quiet HEAD -- . ':!results' ':!docs/gpu.md' 2>/dev/null || echo -dirty)

.PHONY: run build man gpu-kit rehearse test bench emulated sim-full sim-apart ptxas assemble ptxas-full generate pictures lint cross plugins fuzz torture torture-sample clean

run: build                 ## open the workbench on the embedded model
	./$(BIN)

build:                     ## build bin/trtui
	CGO_ENABLED=0 $(GO) build $(TAGS) -ldflags "-X github.com/trtui/trtui/cmd.revision=$(COMMIT)" -o $(BIN) ./cmd/trtui

man: build                 ## the manual page, in bin/
	./$(BIN) man >bin/trtui.1

gpu-kit:                   ## all that scripts/gpu.sh needs on a machine without Go, small, in bin/
	CGO_ENABLED=0 $(GO) build $(TAGS) -trimpath -ldflags "-s -w -X github.com/trtui/trtui/cmd.revision=$(COMMIT)" -o $(BIN) ./cmd/trtui
	CGO_ENABLED=0 $(GO) test -c $(TAGS) -trimpath -ldflags "-s -w" -o bin/driver.test ./kernels/cuda/driver
	CGO_ENABLED=0 $(GO) test -c $(TAGS) -trimpath -ldflags "-s -w" -o bin/simulator.test ./kernels/cuda/simulator
	@du -ch bin/trtui bin/driver.test bin/simulator.test

rehearse: gpu-kit          ## try scripts/gpu.sh without a GPU, with kernels that hang, err and lose the device
	scripts/gpu.sh --rehearse

test:                      ## pass the tests
	$(GO) test $(TAGS) -timeout 60m ./... ./testdata ./testdata/golden

bench:                     ## benchmarks of the kernels and the screen
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./kernels/cpu/... ./ui/... ./views/...

emulated:                  ## the CPU kernels' tests on a processor without AVX-512, emulated by qemu-user
	CGO_ENABLED=0 $(GO) test -exec 'qemu-x86_64 -cpu Haswell' -skip TestFenced ./kernels/cpu/internal/asm  # its masked loads read whole vectors

sim-full:                  ## every GPU kernel on every layer of the suite, on the simulator, where the tests take a covering array: long
	TRTUI_SIM=full $(GO) test $(TAGS) -timeout 4h -run 'TestTactics|TestProduct' ./kernels/cuda ./kernels/cuda/internal/products

sim-apart:                 ## the GPU kernels' tests on the simulator, the lanes of its warps staying apart for as long as the ISA lets them
	TRTUI_SIM=apart $(GO) test $(TAGS) -timeout 1h -run 'TestTactics|TestProducts|TestNetworks' ./kernels/cuda

ptxas:                     ## install NVIDIA's assembler for the tests, from Python wheels, into .nvidia
	@scripts/ptxas.sh

assemble: ptxas            ## what NVIDIA's assembler says of the GPU kernels, for two targets; minutes where many changed
	@mkdir -p .nvidia
	@$(GO) test $(TAGS) -timeout 1h -count 1 -v -run '^TestAssembler$$' ./kernels/cuda >.nvidia/log.txt 2>&1; status=$$?; \
	  grep -vE '^ *(=== |--- PASS|PASS$$)' .nvidia/log.txt; exit $$status

ptxas-full:                ## the same of many more kernels, for three targets: all triples of what tiles differ in, every layer of the suite
	TRTUI_SIM=full $(MAKE) assemble

generate:                  ## make the assembly, docs/gpu.md and the list of licences anew; a clean tree must stay clean
	rm -f kernels/cpu/internal/asm/*_amd64.s kernels/cpu/internal/asm/z*_amd64.go
	$(GO) generate ./kernels/cpu/internal/asm
	$(GO) run ./scripts/gpudoc
	$(GO) run ./scripts/licences

pictures: build            ## draw the screens that the README shows anew
	bin/trtui export svg --precision int8 -q -o docs/workbench.svg
	bin/trtui export svg --precision int8 -q --screen 4 -o docs/memory.svg

lint:                      ## vet, format, staticcheck
	$(GO) vet ./... ./testdata ./testdata/golden
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these'; exit 1; }
	GOGC=400 $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./... ./testdata ./testdata/golden  # a quarter faster than with less memory

cross: QUICKLY := -gcflags='all=-N -l'  # nothing of these targets is compiled yet, and nothing of it is kept
cross:                     ## it must build everywhere
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build $(QUICKLY) -o /dev/null ./cmd/trtui
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build $(QUICKLY) -o /dev/null ./cmd/trtui
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build $(QUICKLY) -o /dev/null ./cmd/trtui
	CGO_ENABLED=0 $(GO) build -tags noasm -o /dev/null ./cmd/trtui
	CGO_ENABLED=0 $(GO) build -tags nocuda -o /dev/null ./cmd/trtui
	CGO_ENABLED=0 $(GO) vet -tags nocuda ./kernels/cuda/...

plugins:                   ## the example plugin that is written in Go, for its test
	cd testdata/plugins/standardize && GOOS=wasip1 GOARCH=wasm $(GO) build -buildmode=c-shared -ldflags '-s -w' -o standardize.wasm main.go

FUZZTIME ?= 30s
fuzz:                      ## every fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

TORTURE ?= --for 4h
torture: build             ## hunt for defects for hours, on from where the last hunt stopped; TORTURE='--for 1h --seed 7' says otherwise
	$(GO) run $(TAGS) ./scripts/torture $(TORTURE)

torture-sample: build      ## the same few minutes of it each time
	@dir=$$(mktemp -d) && $(GO) run $(TAGS) ./scripts/torture --sample --seed 1 --for 15m --out $$dir; code=$$?; \
	  [ $$code != 0 ] || rm -rf $$dir; exit $$code

clean:
	rm -rf bin
