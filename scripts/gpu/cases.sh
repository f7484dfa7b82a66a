# Cases of scripts/gpu.sh: a network at a batch in a precision, ours and PyTorch's.
# shellcheck shell=bash disable=SC2154 # sourced, with variables of gpu.sh

# cases_of WHICH... prints the cases that one of the patterns "model batch precision" selects, in the order of the patterns; all
# without one.
cases_of() {
  local pattern line list
  list=$(sed '/^#/d; /^ *$/d' bench/peers/gpu_cases.txt)
  [ $# -gt 0 ] || { echo "$list"; return; }
  for pattern in "$@"; do
    # shellcheck disable=SC2254 # it is a pattern
    while read -r line; do case $line in $pattern) echo "$line" ;; esac; done <<<"$list"
  done
}
# stage_baseline [MODES [CASE...]] measures PyTorch. What it was not asked for is for another time.
stage_baseline() {
  [ -n "$tiny" ] || { [ "$backend" != cudasim ] && [ -n "$device" ]; } || { echo "no NVIDIA GPU to measure PyTorch on" >&2; return "$unavailable"; }
  command -v python3 >/dev/null || { echo "python3 not found" >&2; return "$unavailable"; }
  local modes=${1:-eager,graph,compile} list=()
  [ $# -lt 2 ] || mapfile -t list < <(cases_of "${@:2}")
  if [ -n "$tiny" ]; then
    bounded python3 bench/peers/torch_gpu.py --out "$rows" --budget "$(left)" --tiny --device cpu --modes eager --cases 'mobilenet_v2 1 fp32' >&2
    return
  fi
  bounded python3 bench/peers/torch_gpu.py --out "$rows" --budget "$(left)" --modes "$modes" ${list[0]+--cases "$(IFS=,; echo "${list[*]}")"} >&2 || return
  [ $# -eq 0 ] || return "$unfinished"
}

# onnx MODEL waits for its ONNX file, which is being written since the script began, or writes it.
onnx() {
  while [ ! -f "$models/$1.onnx" ] && [ -n "$exporter" ] && kill -0 "$exporter" 2>/dev/null && [ "$(left)" -gt 1 ]; do sleep 0.5; done
  [ -f "$models/$1.onnx" ] || bounded python3 bench/peers/torch_gpu.py --export "$1" --out "$models/$1.onnx" >&2
}
# bad are the tactics that selftest found wrong, and those that ended a measurement, a line each; with an argument only those
# that end a process, or take the device from it.
bad() {
  {
    sed -n "${1:+/the process that ran it ended\\|context is lost/}"'s/^ *{"ok":false,"tactic":"\([^"]*\)".*/\1/p' "$run/pairs.json" "$run/selftest.json"
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
# case_time is how long a case may take: twice its share of what the stage has left, so that a slow one leaves some to the
# others; what is cut off is tried again in the next call, with the times that it left in the timing cache.
case_time() {
  local s=$((2 * $(left) / (cases_left > 1 ? cases_left : 1)))
  [ $s -ge "$case_least" ] || s=$case_least
  [ "$s" -le "$(left)" ] || s=$(left)
  echo $((s < case_limit ? s : case_limit))
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
    # shellcheck disable=SC2086 # words, or none
    { bad $despite; printf '%s\n' $lost; } | sed '/^$/d' | sort -u >"$work/bad"
    forbid=()
    [ ! -s "$work/bad" ] || forbid=(--forbid-tactic "@$work/bad")
    limit=$(case_time)
    timeout -k "$grace" "$limit" "$trtui" bench ${file[@]+"${file[@]}"} --backend "$backend" --batch "$2" --precision "$3" --format json -v \
      --timing-cache "$cache" ${codes[@]+"${codes[@]}"} ${forbid[@]+"${forbid[@]}"} "${@:4}" >"$work/bench" 2>"$work/error" </dev/null
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
      if grep -q 'no CUDA' "$work/error"; then return "$unavailable"; fi ;;&
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
  limit=$(case_time)
  timeout -k "$grace" "$limit" "$trtui" run ${file[@]+"${file[@]}"} --backends "cpu,$backend" --precision "$2" --items 1 --format json \
    --timing-cache "$cache" ${codes[@]+"${codes[@]}"} ${forbid[@]+"${forbid[@]}"} >"$work/run" 2>"$work/error" </dev/null
  status=$?
  max_abs=$(sed -n 's/^ *"max_abs": \([^,]*\),*$/\1/p' "$work/run" | head -n 1)
  sqnr=$(sed -n '/"sqnr_db"/{s/^ *"sqnr_db": \([-0-9.e+]*\),*$/\1/p;q;}' "$work/run") # null where nothing differs, and where nothing is left
  case $status in
    0 | 1 | 2)
      if [ -z "$max_abs" ]; then
        echo "$key\"error\":$(json_string "$(tail -n 1 "$work/error")")}"
        return 0
      fi
      if [ $status -eq 0 ] || awk -v s="${sqnr:-0}" -v least="$least_sqnr" 'BEGIN {exit !(s >= least)}'; then ok=true; fi
      echo "$key\"ok\":$ok,\"max_abs\":$max_abs${sqnr:+,\"sqnr_db\":$sqnr}}" ;;
    *) echo "$key\"error\":\"it had not ended after $limit s, or status $status\"}" ;;
  esac
}
# benches FLAGS... measures the cases that are lines of standard input; after the first of $check, if that is set, compares its outputs.
benches() {
  local model batch precision line list flags=("$@")
  mapfile -t list
  cases_left=${#list[@]}
  for line in "${list[@]}"; do
    read -r model batch precision <<<"$line"
    bench "$model" "$batch" "$precision" "${flags[@]}" || { lacks $? "bench --backend $backend"; return; }
    [ "$model $precision" != "${check-}" ] || compare "$model" "$precision"
    cases_left=$((cases_left - 1))
  done
}
# cut_off reports whether the time of a case ended before it did.
cut_off() { grep -q '"error":"it had not ended' "$rows"; }
# stage_ours [CASE...] measures the cases, and compares the outputs of networks with the CPU's once it is asked for all.
stage_ours() {
  local model precision
  cases_left=10
  bench digits 1 fp32 || { lacks $? "bench --backend $backend"; return; } # before any export: is there such a backend?
  if [ -n "$tiny" ]; then
    compare digits fp32
    bench digits 1 fp16
  else
    if [ $# -gt 0 ]; then
      local check='resnet50 fp16' # at once: the time may end before the other cases have
      benches < <(cases_of "$@") || return
      case "$*" in *resnet50*) compare resnet50 int8 ;; esac
      return "$unfinished"
    fi
    for model in digits resnet50; do for precision in fp16 fp32 int8; do compare "$model" "$precision"; done; done
    benches < <(cases_of) || return
  fi
  if cut_off; then return "$unfinished"; fi
}
stage_layers() {
  local model batch precision all='digits resnet50 mobilenet_v2' batches='1 32' precisions='fp16 fp32 int8'
  [ -z "$tiny" ] || all=digits batches=1 precisions=fp32
  benches --per-layer < <(for model in $all; do for batch in $batches; do for precision in $precisions; do echo "$model $batch $precision"; done; done; done) || return
  if cut_off; then return "$unfinished"; fi
}
