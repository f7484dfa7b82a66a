# The archive of scripts/gpu.sh: all that a call leaves, in one file, from which the next call goes on.
# shellcheck shell=bash disable=SC2154 # sourced, with variables of gpu.sh

archive_most=15 code_most=12 # MiB: of all, and of compiled code before it is packed

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

# pack writes summary.txt and gpu.tar.gz into the output folder, each of them whole or not at all.
pack() {
  [ -n "$out" ] || return 0
  local to=$work/pack file bytes=0 size
  rm -rf "$to"
  mkdir -p "$to/results" "$to/code" "$out"
  [ ! -d "$work/unpacked/results" ] || cp -r "$work/unpacked/results/." "$to/results"
  cp -r "$results/$gpu" "$to/results/"
  find "$to/results" -name gpu.log -size +2000k -exec sh -c 'for f; do tail -c 1000000 "$f" >"$f.end" && mv "$f.end" "$f"; done' sh {} +
  summary >"$to/summary.txt"
  # Of compiled code the newest, as far as there is room.
  if [ -d "$XDG_CACHE_HOME/trtui" ]; then
    while read -r _ size file; do
      bytes=$((bytes + size))
      [ $bytes -le $((code_most << 20)) ] || break
      mkdir -p "$to/code/$(dirname "$file")"
      cp "$XDG_CACHE_HOME/trtui/$file" "$to/code/$file" 2>/dev/null # another process may have removed it
    done < <(find "$XDG_CACHE_HOME/trtui" -type f ! -name timing.jsonl -printf '%T@ %s %P\n' | sort -rn)
  fi
  tar -czf "$work/archive" -C "$to" . || return
  if [ "$(wc -c <"$work/archive")" -gt $((archive_most << 20)) ]; then
    tar -czf "$work/archive" -C "$to" --exclude=./code . || return
  fi
  for file in "$work/archive gpu.tar.gz" "$to/summary.txt summary.txt"; do
    cp "${file% *}" "$out/.${file##* }" && mv "$out/.${file##* }" "$out/${file##* }"
  done
  # shellcheck disable=SC2034 # read by run_stage
  packed=$SECONDS
}

# unpack FILE puts an archive's results and compiled code where this call goes on with them.
unpack() {
  mkdir -p "$work/unpacked" "$results" "$XDG_CACHE_HOME/trtui"
  tar -xzf "$1" -C "$work/unpacked" --no-same-owner || { echo "--resume $1: it is no archive of this script" >&2; return 1; }
  [ ! -d "$work/unpacked/results" ] || cp -r "$work/unpacked/results/." "$results"
  [ ! -d "$work/unpacked/code" ] || cp -r "$work/unpacked/code/." "$XDG_CACHE_HOME/trtui"
}
