# The archive of scripts/gpu.sh: all that a call leaves, in one file, from which the next call goes on.
# shellcheck shell=bash disable=SC2154 # sourced, with variables of gpu.sh

archive_most=15 code_most=40 inductor_most=8 # MiB: of all; of compiled code, and of torch.compile's, before they are packed

# summary says in a few lines what there is.
summary() {
  local stage
  echo "$device, driver ${driver:-unknown}, trtui $commit, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  for stage in $stages; do
    [ -f "$run/$stage.json" ] || { echo "$stage: not run"; continue; }
    echo "$stage: $(status_of "$stage"), $(grep -c '^    {' "$run/$stage.json") rows, $(grep -c -e '"ok":false' -e '"error":' "$run/$stage.json") failed"
  done
  sed -n 's/^ *{"model":"\([^"]*\)","batch":\([0-9]*\),"precision":"\([^"]*\)",.*"median_ms": *\([0-9.e-]*\).*/ours \1 \2 \3: \4 ms/p' "$run/ours.json" 2>/dev/null
  sed -n 's/^ *{"model":"\([^"]*\)","batch":\([0-9]*\),"precision":"\([^"]*\)","mode":"\([^"]*\)","layout":\([^,]*\),"median_us":\([0-9.]*\).*/torch \1 \2 \3 \4 \5: \6 us/p' "$run/baseline.json" 2>/dev/null
}

# code MIB FOLDER copies of compiled code the newest, so much of it.
code() {
  local bytes=0 size file
  while read -r _ size file; do
    bytes=$((bytes + size))
    [ $bytes -le $(($1 << 20)) ] || break
    mkdir -p "$2/$(dirname "$file")"
    cp "$XDG_CACHE_HOME/trtui/$file" "$2/$file" 2>/dev/null # another process may have removed it
  done < <(find "$XDG_CACHE_HOME/trtui" -type f ! -name timing.jsonl -printf '%T@ %s %P\n' 2>/dev/null | sort -rn)
}
# deliver FILE NAME puts a file into the output folder, as a whole or not at all.
deliver() { cp "$1" "$out/.$2" && mv "$out/.$2" "$out/$2"; }
# pack writes summary.txt and gpu.tar.gz into the output folder, with as much of the compiled code as there is room for.
pack() {
  [ -n "$out" ] || return 0
  local to=$work/pack most=$code_most kib
  rm -rf "$to"
  mkdir -p "$to/results" "$out"
  [ ! -d "$work/unpacked/results" ] || cp -r "$work/unpacked/results/." "$to/results"
  cp -r "$results/$gpu" "$to/results/"
  find "$to/results" -name gpu.log -size +2000k -exec sh -c 'for f; do tail -c 1000000 "$f" >"$f.end" && mv "$f.end" "$f"; done' sh {} +
  summary >"$to/summary.txt"
  kib=$(du -sk "$TORCHINDUCTOR_CACHE_DIR" 2>/dev/null | cut -f 1)
  if [ -n "$kib" ] && [ "$kib" -lt $((inductor_most << 10)) ]; then
    cp -r "$TORCHINDUCTOR_CACHE_DIR" "$to/inductor" 2>/dev/null || rm -rf "$to/inductor" # it is being written
  fi
  while :; do
    mkdir -p "$to/code"
    code $most "$to/code"
    tar -czf "$work/archive" -C "$to" . || return
    [ "$(wc -c <"$work/archive")" -gt $((archive_most << 20)) ] && [ $most -gt 0 ] || break
    most=$((most / 2))
    rm -rf "$to/code" "$to/inductor"
  done
  deliver "$work/archive" gpu.tar.gz
  deliver "$to/summary.txt" summary.txt
  # shellcheck disable=SC2034 # read by run_stage
  packed=$SECONDS
}

# unpack FILE puts an archive's results and compiled code where this call goes on with them, and the archive where this call's
# will be: it may be killed before it has one of its own.
unpack() {
  mkdir -p "$work/unpacked" "$results" "$XDG_CACHE_HOME/trtui"
  tar -xzf "$1" -C "$work/unpacked" --no-same-owner || { echo "--resume $1: it is no archive of this script" >&2; return 1; }
  [ ! -d "$work/unpacked/results" ] || cp -r "$work/unpacked/results/." "$results"
  [ ! -d "$work/unpacked/code" ] || cp -r "$work/unpacked/code/." "$XDG_CACHE_HOME/trtui"
  [ ! -d "$work/unpacked/inductor" ] || { mkdir -p "$TORCHINDUCTOR_CACHE_DIR" && cp -r "$work/unpacked/inductor/." "$TORCHINDUCTOR_CACHE_DIR"; }
  [ -n "$out" ] && [ ! "$1" -ef "$out/gpu.tar.gz" ] || return 0
  [ ! -f "$work/unpacked/summary.txt" ] || deliver "$work/unpacked/summary.txt" summary.txt
  deliver "$1" gpu.tar.gz
}
