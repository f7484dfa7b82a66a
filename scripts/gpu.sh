#!/usr/bin/env bash
# Measures this commit on the GPU of this machine, in stages that can be stopped and resumed.
#
#     scripts/gpu.sh [--budget SECONDS] [--out DIR] [--commit ID] [--trtui FILE] [--backend NAME] [--tiny] [STAGE...]
#
# Stages, in order: device bringup selftest baseline ours layers; all of them unless some are named. Needs the repository and
# bin/trtui (make build), whose own commit the results carry; baseline and the ONNX files of ours and layers need python3 with
# PyTorch. Nothing is downloaded. --tiny runs every stage on next to nothing and leaves its results in bench/out: with
# --backend cudasim, a trial of this script without a GPU.
#
# Each stage writes DIR/GPU/DATE-COMMIT/STAGE.json (DIR: results/gpu): {schema, stage, status, reason, commit, device, driver,
# when, seconds, rows}, one row a line, kept up to date while it runs; messages go to gpu.log beside it. status is done, running
# (it was killed), partial (out of time), failed or unavailable; a stage that is done is not run again for the same commit,
# the others are, and go on where they stopped (bringup with the steps that it has no rows of). --budget is shared out among the stages; what one leaves over goes to the next.
# No stage stops another, and the exit status is 0 unless the command line is wrong. A kernel that hangs, crashes or computes
# something else costs its own row: bringup and selftest end the process that it is in and go on; ours and layers give each
# case 240 seconds and do without the tactics that selftest found wrong, or that ended a measurement before. Their rows have
# the number of these. Where a layer has no other, wrong ones are measured all the same, and the row says so: "despite".
#
# ours also compares the outputs of two networks with the CPU's, before their times are believed.
#
# A command of trtui prints its rows as JSON lines; exit status 2 with a line of usage means that this build lacks it. What it
# learns about tactics is kept in DIR/GPU/timing.jsonl. Then run scripts/gpudoc (make generate) to bring docs/gpu.md up to date.
set -u
cd "$(dirname "$0")/.." || exit 1

stages="device bringup selftest baseline ours layers"
budget=3600 out='' commit='' trtui=bin/trtui backend=cuda tiny='' chosen=''
unavailable=69 unfinished=75 # of sysexits.h
case_limit=240
least_sqnr=30 # dB, of outputs in fp16 and int8 beside the CPU's in the same precision
usage() { sed -n '2,/^set -u/s/^# \{0,1\}//p' scripts/gpu.sh >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --budget | --out | --commit | --trtui | --backend)
      [ $# -ge 2 ] || usage
      declare "${1#--}=$2"; shift 2 ;;
    --tiny) tiny=1; shift ;;
    device | bringup | selftest | baseline | ours | layers) chosen="$chosen $1"; shift ;;
    *) usage ;;
  esac
done
case $budget in '' | *[!0-9]*) usage ;; esac
chosen=${chosen:-$stages}
out=${out:-${tiny:+bench/out/tiny}} out=${out:-results/gpu}

# json_string TEXT prints it as a JSON string on one line, in ASCII.
json_string() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t' '  ' | LC_ALL=C tr -cd '\40-\176' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
query() { timeout 20 nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1; }
# fact NAME is what the driver itself says of the device, by way of trtui.
fact() { timeout -k 5 60 "$trtui" gpu bringup --backend "$backend" --steps device --format json 2>/dev/null </dev/null | sed -n 's/.*"name":"'"$1"'".*"value":"\([^"]*\)".*/\1/p' | head -n 1; }
left() { local s=$((stage_end - SECONDS)); echo $((s > 1 ? s : 1)); }
# most is what a command is told that it has: a little less, so that it ends itself and sums up.
most() { local s=$(($(left) * 9 / 10)); echo $((s > 1 ? s : 1)); }
# bounded COMMAND... runs it for no longer than the stage has left; exit status 124 or 137 where it was stopped.
# trtui, when it is told to end, saves what it has timed.
bounded() { timeout -k 10 "$(left)" "$@" </dev/null; }

[ -n "$commit" ] || commit=$("$trtui" version 2>/dev/null | sed -n 's/.*commit \([0-9a-f]*\(-dirty\)*\),.*/\1/p')
if [ -z "$commit" ]; then
  commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || commit=unknown
  [ "$commit" = unknown ] || git diff --quiet HEAD -- . ':!results' ':!docs/gpu.md' || commit=$commit-dirty
fi
case $backend in
  cudasim) device=cudasim driver='' ;;
  *)
    device=$(query name) driver=$(query driver_version)
    [ -n "$device" ] || { device=$(fact name); driver=${device:+$(fact driver)}; } # there may be a driver without nvidia-smi
    ;;
esac
gpu=$(printf '%s' "${device:-none}" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9\n' '-')
run=$(find "$out/$gpu" -maxdepth 1 -type d -name "????????-$commit" 2>/dev/null | sort | tail -n 1)
run=${run:-$out/$gpu/$(date -u +%Y%m%d)-$commit}
work=$(mktemp -d) || exit 1
exporter=''
trap 'rm -rf "$work"; [ -z "$exporter" ] || kill "$exporter" 2>/dev/null' EXIT
mkdir -p "$run" || exit 1
models=bench/out/gpu log=$run/gpu.log
export TORCHINDUCTOR_CACHE_DIR="${TORCHINDUCTOR_CACHE_DIR:-$PWD/$models/inductor}"

# save STAGE STATUS REASON writes the stage's JSON from its rows so far.
save() {
  {
    printf '{\n  "schema": 1,\n  "stage": "%s",\n  "status": "%s",\n  "reason": %s,\n' "$1" "$2" "$(json_string "$3")"
    printf '  "commit": %s,\n  "device": %s,\n  "driver": %s,\n' "$(json_string "$commit")" "$(json_string "$device")" "$(json_string "$driver")"
    printf '  "when": "%s",\n  "seconds": %d,\n  "rows": [\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" $((SECONDS - stage_begin))
    grep '^{.*}$' "$rows" | sed 's/^/    /; $!s/$/,/'
    printf '  ]\n}\n'
  } >"$work/json" && cp "$work/json" "$run/$1.part" && mv "$run/$1.part" "$run/$1.json"
}

property() { printf '{"property":%s,"value":%s}\n' "$(json_string "$1")" "$(json_string "$2")"; }
# properties NAME... asks for all at once, since each call may have to wake the driver; one by one where it lacks a name.
properties() {
  local values i=0
  IFS=, read -r -a values <<<"$(query "$(IFS=,; echo "$*")")"
  [ ${#values[@]} -eq $# ] || values=()
  for name in "$@"; do
    if [ ${#values[@]} -gt 0 ]; then property "$name" "${values[i]# }"; else property "$name" "$(query "$name")"; fi
    i=$((i + 1))
  done
}
stage_device() {
  property kernel "$(uname -srm)"
  property processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(getconf _NPROCESSORS_ONLN) threads"
  property python "$(python3 -c 'import sys; print(sys.version.split()[0])' 2>/dev/null || echo none)"
  property torch "$(timeout 60 python3 -c 'import torch; print(torch.__version__, "cudnn", torch.backends.cudnn.version())' 2>/dev/null || echo none)"
  property trtui "$(timeout 20 "$trtui" version 2>/dev/null | head -n 1)"
  property space "$(df -P "$run" 2>/dev/null | awk 'NR == 2 {print $4 " KiB free"}')"
  [ "$backend" != cudasim ] || return 0
  if ! timeout 20 nvidia-smi -L >/dev/null 2>&1; then
    local why
    why=$(command -v nvidia-smi >/dev/null && timeout 20 nvidia-smi -L 2>&1 | head -n 1)
    why=${why:-nvidia-smi not found}
    [ -n "$device" ] || { echo "$why: no NVIDIA driver on this machine" >&2; return $unavailable; }
    property name "$device"
    property nvidia-smi "$why"
    return 0
  fi
  property cuda "$(timeout 60 nvidia-smi -q | sed -n 's/^CUDA Version *: *//p')"
  properties name driver_version vbios_version compute_cap memory.total memory.used clocks.max.sm clocks.max.mem clocks.sm \
    clocks.mem power.limit power.draw temperature.gpu pcie.link.gen.max pcie.link.width.max ecc.mode.current mig.mode.current \
    persistence_mode clocks_event_reasons.active
}

have_trtui() { [ -x "$trtui" ] || { echo "$trtui not found; run make build, or name it with --trtui" >&2; return $unavailable; }; }
# The program ends with 1 where the answer is no, with 2 where there is none; a command line that it does not understand is
# followed by the line of its usage.
# lacks STATUS WHAT turns a usage error, and the lack of a device, into what they mean.
lacks() {
  [ "$1" -eq 2 ] || return "$1"
  if grep -q '^usage: ' "$work/log"; then
    echo "not available in this build of trtui: $2" >&2
    return $unavailable
  fi
  if grep -q 'no CUDA' "$work/log"; then return $unavailable; fi
  return "$1"
}
# summed STATUS makes a command's good end an unfinished one where its summary says that the time cut something off.
summed() {
  if [ "$1" -eq 0 ] && grep -q '"complete":false' "$rows"; then return $unfinished; fi
  return "$1"
}
bringup_steps='device launch graph event copy peak cubin gemm read chain early bulk wgmma-f16 wgmma-e4m3 wgmma-s8 jit'
# missing are the steps of bringup of which there are no rows, by comma.
missing() {
  local step list=''
  for step in $bringup_steps; do
    grep -q "^{\"check\":\"$step\"" "$rows" || list="$list${list:+,}$step"
  done
  echo "$list"
}
stage_bringup() {
  have_trtui || return
  local steps
  steps=$(missing)
  if [ -n "$steps" ]; then # else the last one was cut short: what there is will do
    bounded "$trtui" gpu bringup --backend "$backend" --format json --budget "$(most)" --steps "$steps"
    summed $? || { lacks $? "gpu bringup"; return; }
  fi
  ! grep -q '"ok":false' "$rows" || { echo "$(grep -c '"ok":false' "$rows") findings failed" >&2; return 1; }
}
stage_selftest() {
  have_trtui || return
  cp "$rows" "$work/earlier"
  bounded "$trtui" gpu selftest --backend "$backend" --format json --budget "$(most)" --resume "$work/earlier" ${tiny:+--reps 1 --filter reformat_linear_nhwc}
  summed $? || lacks $? "gpu selftest"
}
stage_baseline() {
  [ -n "$tiny" ] || { [ "$backend" != cudasim ] && [ -n "$device" ]; } || { echo "no NVIDIA GPU to measure PyTorch on" >&2; return $unavailable; }
  command -v python3 >/dev/null || { echo "python3 not found" >&2; return $unavailable; }
  bounded python3 bench/peers/torch_gpu.py --out "$rows" --budget "$(left)" \
    ${tiny:+--tiny --device cpu --modes eager --cases 'mobilenet_v2 1 fp32'} >&2
}

# export_onnx MODEL writes its ONNX file, if it is not there; the GPU is not used for that.
export_onnx() { [ -f "$models/$1.onnx" ] || timeout -k 10 300 python3 bench/peers/torch_gpu.py --export "$1" --out "$models/$1.onnx" </dev/null >&2; }
# onnx MODEL waits for its ONNX file, which is being written since the script began, or writes it.
onnx() {
  while [ ! -f "$models/$1.onnx" ] && [ -n "$exporter" ] && kill -0 "$exporter" 2>/dev/null && [ "$(left)" -gt 1 ]; do sleep 0.5; done
  [ -f "$models/$1.onnx" ] || bounded python3 bench/peers/torch_gpu.py --export "$1" --out "$models/$1.onnx" >&2
}
# bad are the tactics that selftest found wrong, and those that ended a measurement, a line each; with an argument only those
# that end a process, or take the device from it.
bad() {
  {
    sed -n "${1:+/the process that ran it ended\\|context is lost/}"'s/^ *{"ok":false,"tactic":"\([^"]*\)".*/\1/p' "$run/selftest.json"
    sed -n 's/.*"lost":"\([^"]*\)".*/\1/p' "$run/ours.json" "$run/layers.json" "$rows" | tr ' ' '\n'
  } 2>/dev/null | sort -u
}
# culprit STATUS is the tactic that a measurement which ended so names, or was timing when it had to be killed.
culprit() {
  case $1 in
    2) sed -n 's/.*tactic \([A-Za-z0-9_]*\), which can be forbidden.*/\1/p' "$work/error" | tail -n 1 ;;
    137) tail -n 1 "$work/error" | sed -n 's/^timing tactics.*: \([A-Za-z0-9_]*\)$/\1/p' ;;
  esac
}
# bench MODEL BATCH PRECISION FLAGS... prints a row {model, batch, precision, bench or error}, unless there is one.
bench() {
  local key file=() status limit forbid lost='' tactic despite=''
  key=$(printf '{"model":"%s","batch":%d,"precision":"%s",' "$1" "$2" "$3")
  grep -qF "$key" "$rows" && return 0
  if [ "$1" != digits ]; then # which trtui carries
    onnx "$1" || { echo "$key\"error\":\"no ONNX file: the export by PyTorch failed\"}"; return 0; }
    file=("$models/$1.onnx")
  fi
  for _ in 1 2 3 4 5; do # a tactic that ended it is left out of the next try
    { bad $despite; printf '%s\n' $lost; } | sed '/^$/d' | sort -u >"$work/bad"
    forbid=()
    [ ! -s "$work/bad" ] || forbid=(--forbid-tactic "@$work/bad")
    limit=$(left)
    [ "$limit" -le $case_limit ] || limit=$case_limit
    timeout -k 10 "$limit" "$trtui" bench ${file[@]+"${file[@]}"} --backend "$backend" --batch "$2" --precision "$3" --format json -v \
      --timing-cache "$out/$gpu/timing.jsonl" ${forbid[@]+"${forbid[@]}"} "${@:4}" >"$work/bench" 2>"$work/error" </dev/null
    status=$?
    grep -v -e '^timing tactics' -e '^compiling kernels' "$work/error" >&2
    tactic=$(culprit $status)
    if [ -n "$tactic" ]; then
      lost="$lost${lost:+ }$tactic"
    elif [ $status -eq 2 ] && [ -z "$despite" ] && [ "$(bad | wc -l)" -gt "$(bad only | wc -l)" ]; then
      despite=only # they may be all that a layer has
    else
      break
    fi
  done
  key=$key${lost:+"\"lost\":\"$lost\","}
  [ ! -s "$work/bad" ] || key="$key\"forbidden\":$(wc -l <"$work/bad" | tr -d ' '),"
  [ -z "$despite" ] || key="$key\"despite\":true,"
  case $status in
    0) echo "$key\"bench\":$(tr -d '\n' <"$work/bench")}" ;;
    124 | 137)
      [ "$(left)" -gt 5 ] || return $status
      echo "$key\"error\":\"it had not ended after $limit s\"}" ;;
    2)
      if grep -q '^usage: ' "$work/error"; then return $status; fi
      if grep -q 'no CUDA' "$work/error"; then return $unavailable; fi ;;&
    *) echo "$key\"error\":$(json_string "$(tail -n 1 "$work/error")")}" ;;
  esac
}
# compare MODEL PRECISION prints a row of one item's outputs beside the CPU's, unless there is one: {compared, precision, ok,
# max_abs, sqnr_db, or error}. Precisions round at places of their own choice, so the bound is one of signal to noise.
compare() {
  local key file=() forbid=() limit status max_abs sqnr ok=false
  key=$(printf '{"compared":"%s","precision":"%s",' "$1" "$2")
  grep -qF "$key" "$rows" && return 0
  if [ "$1" != digits ]; then
    onnx "$1" || { echo "$key\"error\":\"no ONNX file: the export by PyTorch failed\"}"; return 0; }
    file=("$models/$1.onnx")
  fi
  bad | sed '/^$/d' >"$work/bad"
  [ ! -s "$work/bad" ] || forbid=(--forbid-tactic "@$work/bad")
  limit=$(left)
  [ "$limit" -le $case_limit ] || limit=$case_limit
  timeout -k 10 "$limit" "$trtui" run ${file[@]+"${file[@]}"} --backends "cpu,$backend" --precision "$2" --items 1 --format json \
    --timing-cache "$out/$gpu/timing.jsonl" ${forbid[@]+"${forbid[@]}"} >"$work/run" 2>"$work/error" </dev/null
  status=$?
  max_abs=$(sed -n 's/^ *"max_abs": \([^,]*\),*$/\1/p' "$work/run" | head -n 1)
  sqnr=$(sed -n 's/^ *"sqnr_db": \([^,]*\),*$/\1/p' "$work/run" | head -n 1) # not there where nothing differs
  case $status in
    0 | 1 | 2)
      if [ -z "$max_abs" ]; then
        echo "$key\"error\":$(json_string "$(tail -n 1 "$work/error")")}"
        return 0
      fi
      if [ $status -eq 0 ] || awk -v s="${sqnr:-0}" -v least=$least_sqnr 'BEGIN {exit !(s >= least)}'; then ok=true; fi
      echo "$key\"ok\":$ok,\"max_abs\":$max_abs${sqnr:+,\"sqnr_db\":$sqnr}}" ;;
    *) echo "$key\"error\":\"it had not ended after $limit s, or status $status\"}" ;;
  esac
}
stage_ours() {
  have_trtui || return
  local model batch precision
  bench digits 1 fp32 || { lacks $? "bench --backend $backend"; return; } # before any export: is there such a backend?
  [ -z "$tiny" ] || { compare digits fp32; return 0; }
  for model in digits resnet50; do for precision in fp16 fp32 int8; do compare "$model" "$precision"; done; done
  while read -r model batch precision; do
    case $model in '#'* | '') continue ;; esac
    bench "$model" "$batch" "$precision" || { lacks $? "bench --backend $backend"; return; }
  done <bench/peers/gpu_cases.txt
}
stage_layers() {
  have_trtui || return
  local model batch precision all='digits resnet50 mobilenet_v2' batches='1 32' precisions='fp16 fp32 int8'
  [ -z "$tiny" ] || all=digits batches=1 precisions=fp32
  for model in $all; do for batch in $batches; do for precision in $precisions; do
    bench "$model" "$batch" "$precision" --per-layer || { lacks $? "bench --backend $backend"; return; }
  done; done; done
}

# weight STAGE is its part of the time. A case of ours takes some 20 seconds; of the baseline two in three are torch.compile's,
# which come last and take as much as there is.
weight() { case $1 in device) echo 1 ;; bringup) echo 3 ;; selftest) echo 6 ;; baseline) echo 10 ;; ours) echo 11 ;; layers) echo 3 ;; esac; }
# run_stage NAME SECONDS
run_stage() {
  local job lines=-1 status reason
  rows=$work/$1.jsonl stage_begin=$SECONDS stage_end=$((SECONDS + $2))
  : >"$rows"
  case $1 in bringup | selftest | baseline | ours | layers) # go on where an earlier run stopped
    [ -f "$run/$1.json" ] && sed -n 's/^    \({.*}\),\{0,1\}$/\1/p' "$run/$1.json" | grep -v -e '^{"summary"' -e '^{"schema"' -e 'no ONNX file' >"$rows" ;;
  esac
  "stage_$1" >>"$rows" 2>"$work/log" &
  job=$!
  while kill -0 $job 2>/dev/null; do
    [ "$(wc -l <"$rows")" -eq "$lines" ] || { lines=$(wc -l <"$rows"); save "$1" running "not finished"; }
    sleep 0.5
  done
  wait $job
  status=$?
  { echo "== $1, $(date -u), status $status"; cat "$work/log"; } >>"$log"
  reason=$(grep -v '^ *$' "$work/log" | tail -n 1)
  case $status in
    0) save "$1" "done" "" ;;
    "$unavailable") save "$1" unavailable "$reason" ;;
    "$unfinished" | 124 | 137) save "$1" partial "the time of this stage ended; run it again for the rest" ;;
    *) save "$1" failed "status $status: $reason" ;;
  esac
  echo "$1: $(sed -n 's/^  "status": "\(.*\)",/\1/p; s/^  "reason": "\(..*\)",/\1/p' "$run/$1.json" | paste -sd ' ' -)"
}

case "$tiny $chosen " in
  ' '*' ours '* | ' '*' layers '*)
    (for model in $(awk '!/^#/ && NF && $1 != "digits" && !seen[$1]++ {print $1}' bench/peers/gpu_cases.txt); do
      OMP_NUM_THREADS=4 export_onnx "$model"
    done >>"$log" 2>&1) &
    exporter=$!
    ;;
esac

weights=0
for stage in $chosen; do weights=$((weights + $(weight "$stage"))); done
for stage in $chosen; do
  if grep -q '^  "status": "done"' "$run/$stage.json" 2>/dev/null; then
    echo "$stage: done before"
  else
    run_stage "$stage" $(((budget - SECONDS) * $(weight "$stage") / weights))
  fi
  weights=$((weights - $(weight "$stage")))
done
echo "results in $run"
