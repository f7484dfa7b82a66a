#!/usr/bin/env bash
# Tries the calls of scripts/gpu.sh on the simulated device, with kernels that hang, err and lose the device, a call that is killed,
# and a machine without Python: what an archive should have and lacks is listed, and the exit status is 1. Takes a few minutes: a
# kernel that hangs is told by its time, and a busy machine is not to be taken for one.
#
#     scripts/gpu.sh --rehearse [--trtui FILE]        (after make gpu-kit)
set -u
trtui=$(realpath "${1:-bin/trtui}")
[ -x "$trtui" ] && [ -x "${trtui%/*}/simulator.test" ] || { echo "$trtui or simulator.test beside it not found; run make gpu-kit" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TRTUI=$trtui

# NVIDIA's tools, as far as the script sees them: they run what they are given.
mkdir "$work/tools"
cat >"$work/tools/ncu" <<'SH'
#!/bin/sh
while [ "$1" != "$TRTUI" ]; do shift; done
"$@" >/dev/null 2>&1 || exit
cat <<CSV
==PROF== Connected to process 1
"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed","sm__throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","ns","%","%"
"0","product","(128, 1, 1)","(8, 1, 1)","1,500","10.5","80"
"1","product","(128, 1, 1)","(9, 1, 1)","22,500","11.5","70"
"4","product","(128, 1, 1)","(9, 1, 1)","21,500","11.5","70"
"2","pool","(128, 1, 1)","(9, 1, 1)","500","12.5","60"
"3","move","(128, 1, 1)","(9, 1, 1)","2,500","13.5","50"
CSV
SH
cat >"$work/tools/compute-sanitizer" <<'SH'
#!/bin/sh
while [ "$1" != "$TRTUI" ]; do shift; done
"$@"
echo '========= ERROR SUMMARY: 1 error'
SH
chmod +x "$work/tools/"*
# All of this machine's tools but Python.
mkdir "$work/bare"
for dir in /usr/bin /bin; do find "$dir/" -maxdepth 1 ! -type d ! -name 'python*' -exec ln -sf -t "$work/bare" {} +; done

lacks=''
fail() { lacks="$lacks$1"$'\n'; }
# call NAME FLAGS... is one call, on a machine of its own: what it leaves is unpacked at $work/NAME.
call() {
  local name=$1
  shift
  echo "== $name: gpu.sh $*"
  TRTUI_REHEARSAL=$work/$name timeout 1200 bash scripts/gpu.sh --backend cudasim --tiny --trtui "$trtui" --commit 0123456789ab --budget 1000 \
    --results "$work/machine/$name" --out "$work/out/$name" "$@" || fail "$name: gpu.sh ended with status $?"
  survivors "$name"
  opened "$name"
}
# survivors NAME tells, and ends, what a call has left running: on a GPU it would hold the device.
survivors() {
  local process
  for process in /proc/[0-9]*; do
    grep -qzsx "TRTUI_REHEARSAL=$work/$1" "$process/environ" || continue
    fail "$1: process ${process#/proc/} has survived: $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)"
    kill -KILL "${process#/proc/}" 2>/dev/null
  done
}
# opened NAME unpacks the call's archive.
opened() {
  local archive=$work/out/$1/gpu.tar.gz
  mkdir -p "$work/$1"
  if ! tar -xzf "$archive" -C "$work/$1"; then fail "$1: no archive that can be read"; return; fi
  [ "$(wc -c <"$archive")" -lt $((16 << 20)) ] || fail "$1: the archive is larger than 16 MiB"
  [ "$(find "$work/out/$1" -type f | wc -l)" -eq 2 ] || fail "$1: there is more than an archive and a summary"
  cmp -s "$work/$1/summary.txt" "$work/out/$1/summary.txt" || fail "$1: the summary is not the archive's"
}
# has NAME FILE PATTERN... tells which patterns no line of a result has.
has() {
  local name=$1 file pattern
  file=$(echo "$work/$1"/results/cudasim/*-0123456789ab/"$2")
  [ -f "$file" ] || { fail "$name: no $2"; return; }
  for pattern in "${@:3}"; do
    grep -q -- "$pattern" "$file" || fail "$name: nothing in $2 is like $pattern"
  done
}

# A tactic that only the second case uses: its hang may cost no other.
tactics() { "$trtui" bench --backend cudasim --precision "$1" --per-layer --format json --timing-cache none 2>/dev/null | sed -n 's/^ *"tactic": "\(.*\)",/\1/p' | sort -u; }
hung=$(comm -13 <(tactics fp32) <(tactics fp16) | grep '^conv_' | head -n 1)
[ -n "$hung" ] || fail "digits in fp16 uses no tactic of convolutions of its own"
export PATH=$work/tools:$PATH

export TRTUI_SIM_FAULT=hang:reformat_nhwc_linear,wrong:convert_nhwc,lost:reformat_linear_nhwc,hang:$hung
call one first
has one device.json '"status": "done"'
has one driver.json '"status": "done"' '"ok":true,.*graph'
has one bringup.json '"status": "done"' '"check":"device"' '"check":"peak"' '"check":"jit"' '"summary":"bringup"'
has one pairs.json '"ok":true' '"tactic":"reformat_nhwc_linear".*did not answer' '"tactic":"convert_nhwc".*want ' \
  '"tactic":"reformat_linear_nhwc".*context is lost' '"summary":"selftest"'
has one ours.json '"precision":"fp32",.*"median_ms"' '"compared":"digits".*"ok":true' '"precision":"fp16",.*it had not ended' '"status": "partial"'
has one baseline.json '"status": "\(done\|unavailable\)"'
has one tools.json '"tool":"compute-sanitizer","tactic":"convert_nhwc".*sanitizer-1.txt' 'ERROR SUMMARY: 1' \
  '"tactic":"reformat_nhwc_linear".*"status":137' '"tool":"ncu"'
has one sanitizer-1.txt 'FAILED\|failed'
has one gpu.log '== ours'

# The next call goes on from the archive alone, and another kernel loses the device.
export TRTUI_SIM_FAULT=lost:gemm_nhwc_f16_mma_64x64x64_s3_k4
call two --resume "$work/out/one/gpu.tar.gz" second
has two pairs.json 'did not answer'
has two tools.json compute-sanitizer
has two ours.json '"status": "done"' '"precision":"fp16",.*"median_ms"'
has two sweep.json '"ok":true.*"predicted_us":[0-9.]*[1-9].*"measured_us":[0-9.]*[1-9].*"estimated":true' '"ok":false.*context is lost'
has two selftest.json '"status": "done"' '"summary":"selftest"'
# Its part of the log: code that the first call compiled came with the archive.
log=$(echo "$work"/two/results/cudasim/*-0123456789ab/gpu.log)
tail -c "+$(($(cat "$work"/one/results/cudasim/*-0123456789ab/gpu.log | wc -c) + 1))" "$log" >"${log%/*}/second.log"
has two second.log '[1-9][0-9]* from the code cache'
for name in one two; do [ -s "$work/$name/results/cudasim/timing.jsonl" ] || fail "$name: no timing.jsonl, or nothing in it"; done
unset TRTUI_SIM_FAULT

# A call that is killed before its first stage has ended leaves the archive that it was given; another finishes.
bash scripts/gpu.sh --backend cudasim --tiny --trtui "$trtui" --commit 0123456789ab --budget 1000 --results "$work/machine/three" \
  --out "$work/out/three" --resume "$work/out/two/gpu.tar.gz" device driver layers >/dev/null &
killed=$!
for _ in $(seq 3000); do [ ! -f "$work/out/three/gpu.tar.gz" ] || break; sleep 0.1; done
kill -9 $killed
wait $killed 2>/dev/null
opened three
has three selftest.json '"status": "done"'
call four --resume "$work/out/three/gpu.tar.gz" third
for stage in device driver bringup ours selftest layers; do has four $stage.json '"status": "done"'; done

# Nothing is wrong: the heaviest launches are looked at. And there is no Python.
PATH=$work/tools:$work/bare call five pairs baseline ours tools
has five pairs.json '"status": "done"'
has five baseline.json '"status": "unavailable"' 'python3 not found'
has five ours.json '"status": "done"'
has five tools.json '"status": "done"' '"tool":"ncu","name":"product, grid (9, 1, 1)","us":22.500' '"name":"product, grid (8, 1, 1)"'
has five ncu.csv 'gpu__time_duration.sum'

if [ -n "$lacks" ]; then
  cat "$work"/machine/*/cudasim/*/gpu.log >&2
  printf '%s' "$lacks" | sed 's/^/rehearsal: /' >&2
  exit 1
fi
grep -q '"status": "done"' "$work"/one/results/cudasim/*-0123456789ab/baseline.json ||
  echo "rehearsal: PyTorch's baseline was not tried: $(sed -n 's/^  "reason": "\(.*\)",/\1/p' "$work"/one/results/cudasim/*-0123456789ab/baseline.json)"
echo "rehearsal: the archives have all that they should"
