#!/usr/bin/env bash
# Measures this commit on the GPU of this machine, in stages that can be stopped and resumed.
#
#     scripts/gpu.sh [--budget SECONDS] [--results DIR] [--out DIR] [--resume FILE] [--commit ID] [--trtui FILE]
#                    [--backend NAME] [--tiny] [CALL|STAGE...]
#     scripts/gpu.sh --rehearse [--trtui FILE]
#
# Where a GPU is at hand for as long as one likes, this does all:
#
#     make build && scripts/gpu.sh --budget 3600 && make generate
#
# Where one comes for a few calls of ten minutes, on a machine that is bare each time, with neither Go nor network, make
# gpu-kit builds what is handed in with the repository (bin/), and the calls are
#
#     scripts/gpu.sh --out DIR first
#     scripts/gpu.sh --out DIR --resume gpu.tar.gz second      (the archive that the last call left in its DIR)
#     scripts/gpu.sh --out DIR --resume gpu.tar.gz third       (as often as there is something left)
#     scripts/gpu.sh --resume gpu.tar.gz unpack                (at home: into results/gpu; then make generate)
#
# A call takes 540 seconds unless --budget says otherwise. DIR gets gpu.tar.gz (results, timing cache, compiled code as far
# as there is room: 16 MiB at most) and summary.txt, anew after each stage and every minute, each time as a whole, so that a
# call that is killed leaves the last ones. Call first sees to it that every kind of thing is seen once: the driver's conformance,
# bring-up, each tactic on one layer, ResNet-50, BERT-base and GPT-2 beside PyTorch, and NVIDIA's tools on what is wrong or
# slow. Call second has torch.compile on one network, all tactics on the layers of ResNet-50 and on matrix products, the other cases,
# and the whole selftest; call third whatever is left. The calls are the lists below.
#
# Stages: device driver bringup pairs selftest baseline ours layers sweep tools; all of them unless some are named. They need the
# repository and bin/trtui (make build), whose own commit the results carry; driver needs bin/driver.test (make gpu-kit);
# baseline and the ONNX files of ours and layers need python3 with PyTorch, and nothing else of Python; tools needs ncu and
# compute-sanitizer. Nothing is downloaded. --tiny runs every stage on next to nothing and leaves its results in bench/out: with
# --backend cudasim, a trial of this script without a GPU. --rehearse tries the calls so, with kernels that hang, err and lose
# the device (TRTUI_SIM_FAULT), and fails with a list where an archive lacks something.
#
# Each stage writes RESULTS/GPU/DATE-COMMIT/STAGE.json (RESULTS: results/gpu): {schema, stage, status, reason, commit, device,
# driver, when, seconds, rows}, one row a line, kept up to date while it runs; messages go to gpu.log beside it. status is
# done, running (it was killed), partial (out of time, or not asked for all), failed or unavailable; a stage that is done is not run
# again for the same commit, the others are, and go on where they stopped (bringup with the steps that it has no rows of).
# --budget is shared out among the stages; what one leaves over goes to the next. No stage stops another, and the exit status is
# 0 unless the command line is wrong: then 2, before any stage. A kernel that hangs, crashes or computes something else costs its own row: bringup, pairs,
# selftest and sweep end the process that it is in and go on; ours and layers give each case 240 seconds at most, less where many
# wait, and do without the tactics that were found wrong, or that ended a measurement before. Their rows have the number of
# these. Where a layer has no other, wrong ones are measured all the same, and the row says so: "despite". A case whose time
# ended first is tried again in the next call, with the times of tactics that it left.
#
# ours also compares the outputs of two networks with the CPU's, before their times are believed.
#
# A command of trtui prints its rows as JSON lines; exit status 2 with a line of usage means that this build lacks it. What it
# learns about tactics is kept in RESULTS/GPU/timing.jsonl. scripts/gpudoc (make generate) brings docs/gpu.md up to date.
set -u
cd "$(dirname "$0")/.." || exit 1

stages="device driver bringup pairs selftest baseline ours layers sweep tools"
# The calls: a stage with its part of the time, and what of it. What a stage was not asked for makes it partial.
# shellcheck disable=SC2034 # second and third are read by name
{
headline="'resnet50 1 fp16' 'resnet50 128 int8' 'resnet50 128 fp16' 'resnet50 1 fp32'"
transformers="'bert_base 1 fp*' 'gpt2_small 1 fp*'"
first="device 1
driver 2
bringup 9
pairs 8
ours 24 $headline
baseline 6 eager,graph $headline
ours 10 $transformers
baseline 4 eager,graph $transformers
tools 10"
second="device 1
driver 2
bringup 4
pairs 4
baseline 42 reduce,compile 'resnet50 128 fp16'
sweep 16
ours 18
baseline 8
selftest 8"
third="device 1
driver 2
bringup 3
pairs 3
ours 11
baseline 10
sweep 6
selftest 6
layers 3
tools 3"
}
all="device 1
driver 1
bringup 3
pairs 2
selftest 6
baseline 10
ours 11
layers 3
sweep 6
tools 2"

budget='' results='' out='' resume='' commit='' trtui=bin/trtui backend=cuda tiny='' plan=''
unavailable=69 unfinished=75 # of sysexits.h
case_limit=240 case_least=30 grace=10 cases_left=1 # seconds
tool_limit=60 hang_limit=15 patience=15s # with a step of bringup, between two findings
least_sqnr=30 # dB, of outputs in fp16 and int8 beside the CPU's in the same precision
usage() { sed -n '2,/^set -u/s/^# \{0,1\}//p' scripts/gpu.sh >&2; exit 2; }
wrong() { echo "gpu.sh: $1" >&2; exit 2; }
rehearse=''
while [ $# -gt 0 ]; do
  case $1 in
    --budget | --results | --out | --resume | --commit | --trtui | --backend)
      [ $# -ge 2 ] || usage
      declare "${1#--}=$2"; shift 2 ;;
    --tiny) tiny=1; shift ;;
    --rehearse) rehearse=1; shift ;;
    -*) usage ;;
    first | second | third) plan=$plan${!1}$'\n' budget=${budget:-540}; shift ;;
    unpack) plan=unpack; shift ;;
    *)
      one=$(grep "^$1 " <<<"$all") || wrong "$1 is no call (first, second, third, unpack) and no stage ($stages)"
      plan=$plan$one$'\n'; shift ;;
  esac
done
[ -z "$rehearse" ] || exec bash scripts/gpu/rehearse.sh "$trtui"
budget=${budget:-3600}
case $budget in *[!0-9]*) usage ;; esac
plan=${plan:-$all}
[ "$plan" = unpack ] || { [ -f "$trtui" ] && [ -x "$trtui" ]; } || wrong "$trtui is no program; run make build or make gpu-kit, or name it with --trtui"
[ -z "$out" ] || { mkdir -p "$out" && : >"$out/.gpu" && rm "$out/.gpu"; } 2>/dev/null || wrong "--out $out: it cannot be written to"
[ -z "$resume" ] || [ -f "$resume" ] || wrong "--resume $resume: there is no such file"
results=${results:-${tiny:+bench/out/tiny}} results=${results:-results/gpu}

[ -z "$tiny" ] || case_limit=40 case_least=20 grace=2 tool_limit=30 hang_limit=10 patience=120s # a busy machine is no kernel that hangs

# shellcheck source-path=SCRIPTDIR
. scripts/gpu/stages.sh
. scripts/gpu/cases.sh
. scripts/gpu/archive.sh

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
bounded() { timeout -k "$grace" "$(left)" "$@" </dev/null; }

work=$(mktemp -d) || exit 1
exporter='' job='' ends='' packed=0
# end PROCESS ends it and what it runs, and leaves the numbers of these in ends.
end() {
  ends=$(ps -o pid= --ppid "$1" 2>/dev/null)
  # shellcheck disable=SC2086 # each is a word
  kill $ends "$1" 2>/dev/null
}
# killed kills what is left of what was ended: timeout and each command under it are a group.
killed() {
  local one
  for one in $ends; do kill -KILL -- "-$one" 2>/dev/null; done
}
trap '[ -z "$exporter" ] || end "$exporter"; rm -rf "$work"' EXIT
models=bench/out/gpu caches=$PWD/bench/out/gpu
[ -z "$tiny" ] || { mkdir -p "$results/caches" && caches=$(realpath "$results/caches"); }
export TORCHINDUCTOR_CACHE_DIR="${TORCHINDUCTOR_CACHE_DIR:-$caches/inductor}"
export XDG_CACHE_HOME="$caches/cache" # where trtui keeps compiled code
mkdir -p "$XDG_CACHE_HOME"
# shellcheck disable=SC2034 # read by stages and cases
codes=() # a simulated device keeps code where it is told to
[ "$backend" != cudasim ] || codes=(--code-cache "$XDG_CACHE_HOME/trtui/code")
if [ -n "$resume" ]; then unpack "$resume" || exit 2; fi
[ "$plan" != unpack ] || exit 0
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
run=$(find "$results/$gpu" -maxdepth 1 -type d -name "????????-$commit" 2>/dev/null | sort | tail -n 1)
run=${run:-$results/$gpu/$(date -u +%Y%m%d)-$commit}
mkdir -p "$run" || exit 1
log=$run/gpu.log cache=$results/$gpu/timing.jsonl

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

# status_of STAGE is its status, with the reason.
status_of() { sed -n 's/^  "status": "\(.*\)",/\1/p; s/^  "reason": "\(..*\)",/\1/p' "$run/$1.json" | paste -sd ' ' -; }
# run_stage NAME SECONDS ARGUMENTS...
run_stage() {
  local lines=-1 status reason
  rows=$work/$1.jsonl stage_begin=$SECONDS stage_end=$((SECONDS + $2))
  : >"$rows"
  case $1 in device | driver) ;; *) # go on where an earlier run stopped
    [ -f "$run/$1.json" ] && sed -n 's/^    \({.*}\),\{0,1\}$/\1/p' "$run/$1.json" |
      grep -v -e '^{"summary"' -e '^{"schema"' -e 'no ONNX file' "${again[@]}" >"$rows" ;;
  esac
  "stage_$1" "${@:3}" >>"$rows" 2>"$work/log" &
  job=$!
  while kill -0 $job 2>/dev/null; do
    [ "$(wc -l <"$rows")" -eq "$lines" ] || { lines=$(wc -l <"$rows"); save "$1" running "not finished"; }
    [ -z "$out" ] || [ $((SECONDS - packed)) -lt 60 ] || { save "$1" running "not finished"; pack; }
    sleep 0.5
  done
  wait $job
  status=$?
  job=''
  { echo "== $1, $(date -u), status $status"; cat "$work/log"; } >>"$log"
  reason=$(grep -v '^ *$' "$work/log" | tail -n 1)
  case $status in
    0) save "$1" "done" "" ;;
    "$unavailable") save "$1" unavailable "$reason" ;;
    "$unfinished" | 124 | 137) save "$1" partial "there is more to do; run it again for the rest" ;;
    *) save "$1" failed "status $status: $reason" ;;
  esac
  echo "$1: $(status_of "$1")"
}
# ended is told that the call ends now: what there is goes into the archive, what runs is ended.
ended() {
  trap '' TERM INT
  if [ -n "$job" ]; then
    save "$stage" partial "the call was ended; run it again for the rest"
    end "$job"
  fi
  pack
  killed
  exit 143
}

# The ONNX files that the plan needs are written beside the first stages, several at once where there are processors for that.
needed() {
  case $plan in *$'\n'"ours "* | *$'\n'"layers "* | "ours "* | "layers "*) ;; *) return ;; esac
  case $plan in "$first"*) printf '%s\n' resnet50 bert_base gpt2_small ;; *) sed '/^#/d; /^digits /d; /^ *$/d; s/ .*//' bench/peers/gpu_cases.txt | awk '!seen[$1]++' ;; esac
}
if [ -z "$tiny" ] && [ -n "$(needed)" ]; then
  jobs=$(($(getconf _NPROCESSORS_ONLN) / 4)) # of four threads each
  needed | OMP_NUM_THREADS=4 xargs -P $((jobs > 1 ? jobs : 1)) -I MODEL timeout -k 10 400 python3 bench/peers/torch_gpu.py --export MODEL --out "$models/MODEL.onnx" >>"$log" 2>&1 &
  exporter=$!
fi
trap ended TERM INT

weights=$(awk '{n += $2} END {print n}' <<<"$plan")
mapfile -t lines <<<"$plan"
# A case that was cut off is tried again once in a call: what this one cuts off waits for the next.
declare -A seen
for line in "${lines[@]}"; do
  [ -n "$line" ] || continue
  eval "set -- $line" # the words of the lists above, some of which are quoted
  stage=$1 weight=$2
  again=(-e 'it had not ended after')
  [ -z "${seen[$stage]-}" ] || again=()
  seen[$stage]=1
  if grep -q '^  "status": "done"' "$run/$stage.json" 2>/dev/null; then
    echo "$stage: done before"
  else
    run_stage "$stage" $(((budget - SECONDS) * weight / weights)) "${@:3}"
    pack
  fi
  weights=$((weights - weight))
done
pack
echo "results in $run${out:+, archive in $out}"
