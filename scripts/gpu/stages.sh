# Stages of scripts/gpu.sh that are no cases: what the device is, what its driver does, every kernel, NVIDIA's tools.
# shellcheck shell=bash disable=SC2154 # sourced, with variables of gpu.sh

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
    [ -n "$device" ] || { echo "$why: no NVIDIA driver on this machine" >&2; return "$unavailable"; }
    property name "$device"
    property nvidia-smi "$why"
    return 0
  fi
  property cuda "$(timeout 60 nvidia-smi -q | sed -n 's/^CUDA Version *: *//p')"
  properties name driver_version vbios_version compute_cap memory.total memory.used clocks.max.sm clocks.max.mem clocks.sm \
    clocks.mem power.limit power.draw temperature.gpu pcie.link.gen.max pcie.link.width.max ecc.mode.current mig.mode.current \
    persistence_mode clocks_event_reasons.active
}

# The program ends with 1 where the answer is no, with 2 where there is none; a command line that it does not understand is
# followed by the line of its usage.
# lacks STATUS WHAT turns a usage error, and the lack of a device, into what they mean.
lacks() {
  [ "$1" -eq 2 ] || return "$1"
  if grep -q '^usage: ' "$work/log"; then
    echo "not available in this build of trtui: $2" >&2
    return "$unavailable"
  fi
  if grep -q 'no CUDA' "$work/log"; then return "$unavailable"; fi
  return "$1"
}
# summed STATUS makes a command's good end an unfinished one where its summary says that the time cut something off.
summed() {
  if [ "$1" -eq 0 ] && grep -q '"complete":false' "$rows"; then return "$unfinished"; fi
  return "$1"
}

# stage_driver runs the driver's conformance tests, compiled, on the device: a row for each of them.
stage_driver() {
  local binary=${trtui%/*}/driver.test tests=TestDevice status
  [ "$backend" != cudasim ] || { binary=${trtui%/*}/simulator.test tests=TestContext; }
  [ -x "$binary" ] || { echo "$binary not found; run make gpu-kit" >&2; return "$unavailable"; }
  bounded "$binary" -test.v -test.run "^$tests\$" -test.timeout "$(most)s" >"$work/driver" 2>&1
  status=$?
  sed -n 's/^ *--- \([A-Z]*\): \([A-Za-z0-9_/]*\) (\([0-9.]*\)s)$/\1 \2 \3/p' "$work/driver" | while read -r verdict name seconds; do
    case $verdict in
      PASS) echo "{\"ok\":true,\"check\":\"driver\",\"name\":\"$name\",\"seconds\":$seconds}" ;;
      FAIL) echo "{\"ok\":false,\"check\":\"driver\",\"name\":\"$name\",\"seconds\":$seconds,\"error\":\"failed: gpu.log has its output\"}" ;;
    esac
  done
  cat "$work/driver" >&2
  if grep -q '^ *--- SKIP' "$work/driver"; then
    sed -n 's/^ *conformance_test.go:[0-9]*: //p' "$work/driver" | tail -n 1 >&2
    return "$unavailable"
  fi
  return $status
}
# bringup_steps are those that the program has, as it completes them for a shell.
bringup_steps() { timeout 20 "$trtui" __completeNoDesc gpu bringup --steps '' 2>/dev/null </dev/null | grep -v '^:'; }
# missing are the steps of bringup of which there are no rows, by comma.
missing() {
  local step list=''
  for step in $(bringup_steps); do
    grep -q "^{\"check\":\"$step\"" "$rows" || list="$list${list:+,}$step"
  done
  echo "$list"
}
stage_bringup() {
  local steps
  steps=$(missing)
  if [ -n "$steps" ] || [ ! -s "$rows" ]; then # else the last one was cut short: what there is will do
    bounded "$trtui" gpu bringup --backend "$backend" --format json --budget "$(most)" --patience "$patience" ${codes[@]+"${codes[@]}"} ${steps:+--steps "$steps"}
    summed $? || { lacks $? "gpu bringup"; return; }
  fi
  ! grep -q '"ok":false' "$rows" || { echo "$(grep -c '"ok":false' "$rows") findings failed" >&2; return 1; }
}
# on_pairs COMMAND FLAGS... runs a command of trtui gpu that works on pairs of a tactic and a layer, behind those of the rows.
on_pairs() {
  cp "$rows" "$work/earlier"
  bounded "$trtui" gpu "$1" --backend "$backend" --format json --budget "$(most)" --resume "$work/earlier" ${codes[@]+"${codes[@]}"} "${@:2}"
  summed $? || lacks $? "gpu $1"
}
# Those of --tiny have tactics that a rehearsal lets fail, and others.
stage_pairs() { on_pairs selftest --pairs tactic ${tiny:+--reps 1 --patience 15s --filter reformat_}; }
stage_selftest() { on_pairs selftest ${tiny:+--reps 1 --patience 15s --filter reformat_linear_nhwc}; }
stage_sweep() { on_pairs sweep ${tiny:+--patience 60s --filter "mma_64x64x64_s3_k4 gemm_f16_1x"}; }

# kept FILE NAME keeps the end of a tool's output beside the results, where the archive takes it along.
kept() { tail -c 400000 "$1" >"$run/$2"; }
# tool SECONDS COMMAND... runs a command for so long at most, and kills it with all that it runs: told to end, a tool would leave
# the program behind that hangs in a kernel, and keeps the device.
tool() { timeout -s KILL "$@" >"$work/tool" 2>"$work/error" </dev/null; }
# stage_tools looks at wrong kernels with compute-sanitizer, three at most, and at the launches of a network with Nsight
# Compute, whose three longest get rows.
stage_tools() {
  { [ "$backend" != cudasim ] || [ -n "$tiny" ]; } && [ -n "$device" ] || { echo "no NVIDIA GPU to look at" >&2; return "$unavailable"; }
  local status=0
  # What computes something else first, then what ends its process, and what hangs.
  sed -n 's/^ *{"ok":false,"tactic":"\([^"]*\)","layer":"\([^"]*\)"/\1\t\2\t/p' "$run/pairs.json" "$run/selftest.json" 2>/dev/null |
    awk -F '\t' '!seen[$1]++ {print (/did not answer/ ? 3 : /the process that ran it ended|context is lost/ ? 2 : 1) "\t" $1 "\t" $2}' |
    sort -s -k 1,1n | head -n 3 >"$work/wrong"
  [ ! -s "$work/wrong" ] || sanitize || status=$?
  grep -q '"tool":"ncu"' "$rows" || profile || status=$?
  return $status
}
sanitize() {
  local rank tactic layer n=0 status limit
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer not found" >&2; return "$unavailable"; }
  while IFS=$'\t' read -r rank tactic layer; do
    n=$((n + 1))
    grep -qF "\"tactic\":\"$tactic\"" "$rows" && continue
    limit=$(($(left) / 4)) # what runs last, the profile, has its part
    [ "$rank" -lt 3 ] || limit=$((limit < hang_limit ? limit : hang_limit))
    [ "$limit" -ge 1 ] || limit=1
    tool $((limit < tool_limit ? limit : tool_limit)) compute-sanitizer --tool memcheck "$trtui" gpu selftest --in-process --backend "$backend" \
      --filter "$tactic $layer" --reps 1
    status=$?
    cat "$work/error" >>"$work/tool"
    kept "$work/tool" "sanitizer-$n.txt"
    echo "{\"tool\":\"compute-sanitizer\",\"tactic\":\"$tactic\",\"layer\":$(json_string "$layer"),\"status\":$status,\"value\":$(json_string "$(grep 'ERROR SUMMARY' "$work/tool" | tail -n 1)"),\"file\":\"sanitizer-$n.txt\"}"
  done <"$work/wrong"
}
ncu_metrics=gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed,gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed
ncu_metrics=$ncu_metrics,lts__t_sectors_op_read.sum,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread
profile() {
  local model=resnet50 batch=128 precision=fp16 file status forbid=()
  command -v ncu >/dev/null || { echo "ncu not found" >&2; return "$unavailable"; }
  [ -z "$tiny" ] || { model=digits batch=1 precision=fp32; }
  file=$models/$model.onnx
  [ $model != digits ] || file=''
  [ -z "$file" ] || [ -f "$file" ] || { echo "no ONNX file of $model" >&2; return "$unavailable"; }
  bad | sed '/^$/d' >"$work/bad"
  [ ! -s "$work/bad" ] || forbid=(--forbid-tactic "@$work/bad")
  tool "$(left)" ncu --target-processes all --clock-control none --csv --page raw --print-units base --launch-count 200 --kill yes --metrics "$ncu_metrics" \
    "$trtui" bench ${file:+"$file"} --backend "$backend" --batch $batch --precision $precision --timing-cache "$cache" ${codes[@]+"${codes[@]}"} ${forbid[@]+"${forbid[@]}"} --warm-up 0s --duration 100ms
  status=$?
  grep '^"' "$work/tool" >"$work/ncu.csv"
  kept "$work/ncu.csv" ncu.csv
  if [ "$(wc -l <"$work/ncu.csv")" -lt 3 ]; then
    cat "$work/error" >&2
    grep '^==' "$work/tool" | tail -n 3 >&2
    return $((status ? status : 1))
  fi
  sed 's/^"//; s/"$//; s/","/\t/g' "$work/ncu.csv" | awk -F '\t' '
    NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next}
    NR > 2 {
      time = $column["gpu__time_duration.sum"]; gsub(/,/, "", time)
      name = $column["Kernel Name"] ", grid " $column["Grid Size"]
      printf "%.0f\t%s\t{\"tool\":\"ncu\",\"name\":\"%s\",\"us\":%.3f,\"value\":\"SM %s %%, DRAM %s %% of peak\",\"file\":\"ncu.csv\"}\n", time, name, name, time / 1000,
        $column["sm__throughput.avg.pct_of_peak_sustained_elapsed"], $column["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"]
    }' | sort -rn | awk -F '\t' '!seen[$2]++ {print $3}' | head -n 3
}
